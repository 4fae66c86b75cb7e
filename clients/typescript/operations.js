// Made of the API's description by go test ./internal/server -run TestTypeScriptClient -update.
import { path, Transport } from './transport.js';

/** @import * as Types from './types.js' */
/** @import { CallOptions, Upload } from './transport.js' */
/** @import { EventStream, StreamOptions } from './stream.js' */

/** A client with a method for each operation of the API. */
export class Scrollback extends Transport {
  /**
   * List the agents of this machine.
   * @param {CallOptions} [params]
   * @returns {Promise<Types.MachineAgentList>}
   */
  listAgents(params) {
    return this.fetchJSON('GET', '/api/agents', { params });
  }

  /**
   * Silence the hooks of an agent.
   * @param {string} agent
   * @param {Types.MachineAgentBody} body
   * @param {CallOptions} [params]
   * @returns {Promise<Types.MachineAgent>}
   */
  patchAgent(agent, body, params) {
    return this.fetchJSON('PATCH', path`/api/agents/${agent}`, { body, params });
  }

  /**
   * Upload an attachment.
   * @param {Upload} file
   * @param {Types.UploadParams} [params]
   * @returns {Promise<Types.Artifact>}
   */
  upload(file, params) {
    return this.fetchJSON('POST', '/api/artifacts', { file, params });
  }

  /**
   * Fetch an attachment.
   * @param {string} artifact
   * @param {Types.FetchArtifactParams} [params]
   * @returns {Promise<Response>}
   */
  fetchArtifact(artifact, params) {
    return this.fetchResponse('GET', path`/api/artifacts/${artifact}`, { params });
  }

  /**
   * List the backups.
   * @param {CallOptions} [params]
   * @returns {Promise<Types.BackupStanding>}
   */
  listBackups(params) {
    return this.fetchJSON('GET', '/api/backups', { params });
  }

  /**
   * Make a backup.
   * @param {CallOptions} [params]
   * @returns {Promise<Types.MadeBackup>}
   */
  createBackup(params) {
    return this.fetchJSON('POST', '/api/backups', { params });
  }

  /**
   * Verify a backup.
   * @param {string} backup
   * @param {CallOptions} [params]
   * @returns {Promise<Types.BackupContents>}
   */
  verifyBackup(backup, params) {
    return this.fetchJSON('POST', path`/api/backups/${backup}/verify`, { params });
  }

  /**
   * List conversations.
   * @param {Types.ListConversationsParams} [params]
   * @returns {Promise<Types.ConversationPage>}
   */
  listConversations(params) {
    return this.fetchJSON('GET', '/api/conversations', { params });
  }

  /**
   * Create a conversation.
   * @param {Types.CreateBody} [body]
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Conversation>}
   */
  createConversation(body, params) {
    return this.fetchJSON('POST', '/api/conversations', { body, params });
  }

  /**
   * Read a conversation.
   * @param {string} id
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Conversation>}
   */
  getConversation(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}`, { params });
  }

  /**
   * Change a conversation.
   * @param {string} id
   * @param {Types.ConversationBody} body
   * @param {Types.PatchConversationParams} [params]
   * @returns {Promise<Types.Conversation>}
   */
  patchConversation(id, body, params) {
    return this.fetchJSON('PATCH', path`/api/conversations/${id}`, { body, params, headers: { if_match: 'If-Match' } });
  }

  /**
   * Delete a conversation.
   * @param {string} id
   * @param {Types.DeleteConversationParams} [params]
   * @returns {Promise<Types.Conversation | Types.PurgeResult>}
   */
  deleteConversation(id, params) {
    return this.fetchJSON('DELETE', path`/api/conversations/${id}`, { params });
  }

  /**
   * Read the newest full copy.
   * @param {string} id
   * @param {Types.ReadNewestArchiveParams} [params]
   * @returns {Promise<Record<string, unknown>>}
   */
  readNewestArchive(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/archive`, { params });
  }

  /**
   * Write a full copy.
   * @param {string} id
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Copy>}
   */
  archive(id, params) {
    return this.fetchJSON('POST', path`/api/conversations/${id}/archive`, { params });
  }

  /**
   * Read a full copy.
   * @param {string} id
   * @param {string} key
   * @param {Types.ReadArchiveParams} [params]
   * @returns {Promise<Record<string, unknown>>}
   */
  readArchive(id, key, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/archive/${key}`, { params });
  }

  /**
   * List full copies.
   * @param {string} id
   * @param {Types.ListArchivesParams} [params]
   * @returns {Promise<Types.ArchiveList>}
   */
  listArchives(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/archives`, { params });
  }

  /**
   * List branches.
   * @param {string} id
   * @param {CallOptions} [params]
   * @returns {Promise<Types.BranchList>}
   */
  branches(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/branches`, { params });
  }

  /**
   * Brief another agent.
   * @param {string} id
   * @param {CallOptions} [params]
   * @returns {Promise<Types.AgentBrief>}
   */
  brief(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/brief`, { params });
  }

  /**
   * Chat.
   * @param {string} id
   * @param {Omit<Types.ChatBody, "stream">} body
   * @param {Types.ChatParams & StreamOptions} [params]
   * @returns {EventStream<Types.ChatEvent>}
   */
  chat(id, body, params) {
    return this.streamTurn(path`/api/conversations/${id}/chat`, { body, params, headers: { idempotency_key: 'Idempotency-Key' } },
      (turn) => path`/api/conversations/${id}/turns/${turn}/events`);
  }

  /**
   * Chat to the end: the result when the turn has ended.
   * @param {string} id
   * @param {Omit<Types.ChatBody, "stream">} body
   * @param {Types.ChatToEndParams} [params]
   * @returns {Promise<Types.TurnAnswer>}
   */
  chatToEnd(id, body, params) {
    return this.fetchJSON('POST', path`/api/conversations/${id}/chat`, { body: { ...body, stream: false }, params, headers: { idempotency_key: 'Idempotency-Key' } });
  }

  /**
   * Clear.
   * @param {string} id
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Receipt>}
   */
  clear(id, params) {
    return this.fetchJSON('POST', path`/api/conversations/${id}/clear`, { params });
  }

  /**
   * Compact.
   * @param {string} id
   * @param {Types.CompactRequest} [body]
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Receipt>}
   */
  compact(id, body, params) {
    return this.fetchJSON('POST', path`/api/conversations/${id}/compact`, { body, params });
  }

  /**
   * Show the context.
   * @param {string} id
   * @param {Types.ContextParams} [params]
   * @returns {Promise<Types.Manifest>}
   */
  context(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/context`, { params });
  }

  /**
   * Preview a draft.
   * @param {string} id
   * @param {Types.DraftBody} body
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Manifest>}
   */
  preview(id, body, params) {
    return this.fetchJSON('POST', path`/api/conversations/${id}/context`, { body, params });
  }

  /**
   * Export.
   * @param {string} id
   * @param {Types.ExportParams} [params]
   * @returns {Promise<Response>}
   */
  export(id, params) {
    return this.fetchResponse('GET', path`/api/conversations/${id}/export`, { params });
  }

  /**
   * Complete a path.
   * @param {string} id
   * @param {Types.ListFilesParams} [params]
   * @returns {Promise<Types.FileList>}
   */
  listFiles(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/files`, { params });
  }

  /**
   * Fork.
   * @param {string} id
   * @param {Types.ForkBody} body
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Conversation>}
   */
  fork(id, body, params) {
    return this.fetchJSON('POST', path`/api/conversations/${id}/fork`, { body, params });
  }

  /**
   * Grep.
   * @param {string} id
   * @param {Types.GrepParams} params
   * @returns {Promise<Types.GrepResult>}
   */
  grep(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/grep`, { params });
  }

  /**
   * List what is kept.
   * @param {string} id
   * @param {Types.ListKeptParams} [params]
   * @returns {Promise<Types.KeptList>}
   */
  listKept(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/kept`, { params });
  }

  /**
   * Keep a sentence.
   * @param {string} id
   * @param {Types.KeptBody} body
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Kept>}
   */
  keep(id, body, params) {
    return this.fetchJSON('POST', path`/api/conversations/${id}/kept`, { body, params });
  }

  /**
   * Tick off, or reopen.
   * @param {string} id
   * @param {string} keptId
   * @param {Types.KeptStateBody} body
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Kept>}
   */
  patchKept(id, keptId, body, params) {
    return this.fetchJSON('PATCH', path`/api/conversations/${id}/kept/${keptId}`, { body, params });
  }

  /**
   * Drop a sentence.
   * @param {string} id
   * @param {string} keptId
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Kept>}
   */
  dropKept(id, keptId, params) {
    return this.fetchJSON('DELETE', path`/api/conversations/${id}/kept/${keptId}`, { params });
  }

  /**
   * List messages.
   * @param {string} id
   * @param {Types.ListMessagesParams} [params]
   * @returns {Promise<Types.MessagePage>}
   */
  listMessages(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/messages`, { params });
  }

  /**
   * List receipts.
   * @param {string} id
   * @param {Types.ReceiptsParams} [params]
   * @returns {Promise<Types.ReceiptList>}
   */
  receipts(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/receipts`, { params });
  }

  /**
   * Redo a compaction.
   * @param {string} id
   * @param {Types.RecompactRequest} [body]
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Receipt>}
   */
  recompact(id, body, params) {
    return this.fetchJSON('POST', path`/api/conversations/${id}/recompact`, { body, params });
  }

  /**
   * List refs.
   * @param {string} id
   * @param {Types.ListRefsParams} [params]
   * @returns {Promise<Types.RefPage>}
   */
  listRefs(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/refs`, { params });
  }

  /**
   * Read an original.
   * @param {string} id
   * @param {string} ref
   * @param {Types.ReadRefParams} [params]
   * @returns {Promise<Types.Page>}
   */
  readRef(id, ref, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/refs/${ref}`, { params });
  }

  /**
   * List leaves.
   * @param {string} id
   * @param {string} ref
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Leaves>}
   */
  listLeaves(id, ref, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/refs/${ref}/leaves`, { params });
  }

  /**
   * Read the end of an original.
   * @param {string} id
   * @param {string} ref
   * @param {Types.TailRefParams} [params]
   * @returns {Promise<Types.Tail>}
   */
  tailRef(id, ref, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/refs/${ref}/tail`, { params });
  }

  /**
   * Restore a conversation.
   * @param {string} id
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Conversation>}
   */
  restoreConversation(id, params) {
    return this.fetchJSON('POST', path`/api/conversations/${id}/restore`, { params });
  }

  /**
   * Rewind.
   * @param {string} id
   * @param {Types.PlaceBody} body
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Conversation>}
   */
  rewind(id, body, params) {
    return this.fetchJSON('POST', path`/api/conversations/${id}/rewind`, { body, params });
  }

  /**
   * List segments.
   * @param {string} id
   * @param {CallOptions} [params]
   * @returns {Promise<Types.SegmentList>}
   */
  listSegments(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/segments`, { params });
  }

  /**
   * Shape.
   * @param {string} id
   * @param {Types.ShapeParams} [params]
   * @returns {Promise<Types.Shape>}
   */
  shape(id, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/shape`, { params });
  }

  /**
   * Stop a turn.
   * @param {string} id
   * @param {string} turn
   * @param {CallOptions} [params]
   * @returns {Promise<Types.CanceledTurn>}
   */
  cancelTurn(id, turn, params) {
    return this.fetchJSON('POST', path`/api/conversations/${id}/turns/${turn}/cancel`, { params });
  }

  /**
   * Show what a turn saw.
   * @param {string} id
   * @param {string} turn
   * @param {Types.TurnContextParams} [params]
   * @returns {Promise<Types.TurnContext>}
   */
  turnContext(id, turn, params) {
    return this.fetchJSON('GET', path`/api/conversations/${id}/turns/${turn}/context`, { params });
  }

  /**
   * Follow a turn.
   * @param {string} id
   * @param {string} turn
   * @param {Types.TurnEventsParams & StreamOptions} [params]
   * @returns {EventStream<Types.ChatEvent>}
   */
  turnEvents(id, turn, params) {
    return this.streamEvents(path`/api/conversations/${id}/turns/${turn}/events`, params, turn);
  }

  /**
   * Undo a compaction.
   * @param {string} id
   * @param {Types.UncompactRequest} [body]
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Receipt>}
   */
  uncompact(id, body, params) {
    return this.fetchJSON('POST', path`/api/conversations/${id}/uncompact`, { body, params });
  }

  /**
   * Follow all conversations.
   * @param {Types.EventsParams & StreamOptions} [params]
   * @returns {EventStream<Types.Change>}
   */
  events(params) {
    return this.streamEvents('/api/events', params);
  }

  /**
   * Import.
   * @param {Upload} file
   * @param {Types.ImportParams} [params]
   * @returns {Promise<Types.ImportResult>}
   */
  import(file, params) {
    return this.fetchJSON('POST', '/api/import', { file, params });
  }

  /**
   * List keys.
   * @param {CallOptions} [params]
   * @returns {Promise<Types.KeyList>}
   */
  listKeys(params) {
    return this.fetchJSON('GET', '/api/keys', { params });
  }

  /**
   * Make a key.
   * @param {Types.KeyBody} body
   * @param {CallOptions} [params]
   * @returns {Promise<Types.MadeKey>}
   */
  addKey(body, params) {
    return this.fetchJSON('POST', '/api/keys', { body, params });
  }

  /**
   * Revoke a key.
   * @param {string} keyId
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Key>}
   */
  revokeKey(keyId, params) {
    return this.fetchJSON('DELETE', path`/api/keys/${keyId}`, { params });
  }

  /**
   * Limits, policies and formats.
   * @param {CallOptions} [params]
   * @returns {Promise<Types.LimitsBody>}
   */
  limits(params) {
    return this.fetchJSON('GET', '/api/limits', { params });
  }

  /**
   * List models.
   * @param {CallOptions} [params]
   * @returns {Promise<Types.ModelList>}
   */
  listModels(params) {
    return this.fetchJSON('GET', '/api/models', { params });
  }

  /**
   * List projects.
   * @param {CallOptions} [params]
   * @returns {Promise<Types.ProjectList>}
   */
  listProjects(params) {
    return this.fetchJSON('GET', '/api/projects', { params });
  }

  /**
   * Read a project.
   * @param {string} name
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Project>}
   */
  getProject(name, params) {
    return this.fetchJSON('GET', path`/api/projects/${name}`, { params });
  }

  /**
   * Store a project.
   * @param {string} name
   * @param {Types.ProjectBody} body
   * @param {Types.PutProjectParams} [params]
   * @returns {Promise<Types.Project>}
   */
  putProject(name, body, params) {
    return this.fetchJSON('PUT', path`/api/projects/${name}`, { body, params, headers: { if_match: 'If-Match' } });
  }

  /**
   * Delete a project.
   * @param {string} name
   * @param {Types.DeleteProjectParams} [params]
   * @returns {Promise<Types.DeletedProject>}
   */
  deleteProject(name, params) {
    return this.fetchJSON('DELETE', path`/api/projects/${name}`, { params, headers: { if_match: 'If-Match' } });
  }

  /**
   * List what is kept in a project.
   * @param {string} name
   * @param {CallOptions} [params]
   * @returns {Promise<Types.KeptList>}
   */
  listProjectKept(name, params) {
    return this.fetchJSON('GET', path`/api/projects/${name}/kept`, { params });
  }

  /**
   * Make the sample conversation.
   * @param {Types.SampleRequest} [body]
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Conversation>}
   */
  sample(body, params) {
    return this.fetchJSON('POST', '/api/sample', { body, params });
  }

  /**
   * Search.
   * @param {Types.SearchParams} params
   * @returns {Promise<Types.SearchResult>}
   */
  search(params) {
    return this.fetchJSON('GET', '/api/search', { params });
  }

  /**
   * Who am I?.
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Who>}
   */
  whoami(params) {
    return this.fetchJSON('GET', '/api/session', { params });
  }

  /**
   * Sign in.
   * @param {Types.SignInBody} body
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Who>}
   */
  signIn(body, params) {
    return this.fetchJSON('POST', '/api/session', { body, params });
  }

  /**
   * Sign out.
   * @param {CallOptions} [params]
   * @returns {Promise<void>}
   */
  async signOut(params) {
    await this.fetchResponse('DELETE', '/api/session', { params });
  }

  /**
   * List the remotes.
   * @param {CallOptions} [params]
   * @returns {Promise<Types.RemoteList>}
   */
  listRemotes(params) {
    return this.fetchJSON('GET', '/api/sync', { params });
  }

  /**
   * Usage.
   * @param {Types.UsageParams} [params]
   * @returns {Promise<Types.UsageAnswer>}
   */
  usage(params) {
    return this.fetchJSON('GET', '/api/usage', { params });
  }

  /**
   * Health.
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Health>}
   */
  healthz(params) {
    return this.fetchJSON('GET', '/healthz', { params });
  }

  /**
   * Liveness.
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Health>}
   */
  livez(params) {
    return this.fetchJSON('GET', '/livez', { params });
  }

  /**
   * Metrics.
   * @param {CallOptions} [params]
   * @returns {Promise<Response>}
   */
  metrics(params) {
    return this.fetchResponse('GET', '/metrics', { params });
  }

  /**
   * Description.
   * @param {CallOptions} [params]
   * @returns {Promise<Record<string, unknown>>}
   */
  openapi(params) {
    return this.fetchJSON('GET', '/openapi.json', { params });
  }

  /**
   * Readiness.
   * @param {CallOptions} [params]
   * @returns {Promise<Types.Readiness>}
   */
  readyz(params) {
    return this.fetchJSON('GET', '/readyz', { params });
  }
}
