// Made of the API's description by go test ./internal/server -run TestTypeScriptClient -update.
import { Transport } from './transport.js';
import type * as Types from './types.js';
import type { CallOptions, Upload } from './transport.js';
import type { EventStream, StreamOptions } from './stream.js';
/** A client with a method for each operation of the API. */
export declare class Scrollback extends Transport {
    /**
     * List the agents of this machine.
     *
     * The coding agents that are on the machine of the server, or set up there by `scrollback install`: what
     * they call, whether their hooks asked, and what is in the way. It needs admin access to all projects, from
     * the same machine. Where the server is not on a person's machine, nothing is found.
     */
    listAgents(params?: CallOptions): Promise<Types.MachineAgentList>;
    /**
     * Silence the hooks of an agent.
     *
     * Has the hooks of an agent say nothing, or speak again, as `scrollback hook off --agent` and `hook on
     * --agent` do. Nothing is written into what the agent reads. It needs admin access to all projects, from the
     * same machine.
     */
    patchAgent(agent: string, body: Types.MachineAgentBody, params?: CallOptions): Promise<Types.MachineAgent>;
    /**
     * Upload an attachment.
     *
     * The body is the attachment, and the conversation may then use it in its messages. Its media type is
     * recognised by its content.
     */
    upload(file: Upload, params?: Types.UploadParams): Promise<Types.Artifact>;
    /**
     * Fetch an attachment.
     *
     * The bytes of an attachment, to be downloaded. Images are shown inline. A server that lets clients fetch
     * them from its object store redirects there, to a URL that is good for some minutes; send no Authorization
     * header there.
     */
    fetchArtifact(artifact: string, params?: Types.FetchArtifactParams): Promise<Response>;
    /**
     * List the backups.
     *
     * Where the backups of the whole store are kept, which there are, and whether one is being made or read. It
     * needs admin access to all projects. Where `[backup]` of the config file names no place, nothing is found.
     */
    listBackups(params?: CallOptions): Promise<Types.BackupStanding>;
    /**
     * Make a backup.
     *
     * Makes a backup now, while everything is in use, and removes those that are older than the config file
     * keeps. It goes on when nobody waits for the answer any more. It needs admin access to all projects.
     */
    createBackup(params?: CallOptions): Promise<Types.MadeBackup>;
    /**
     * Verify a backup.
     *
     * Reads a backup to its end and compares all of it with its hashes. A damaged one is refused. It needs admin
     * access to all projects.
     */
    verifyBackup(backup: string, params?: CallOptions): Promise<Types.BackupContents>;
    /**
     * List conversations.
     *
     * Most recently changed first. Conversations that the caller may see, in pages. Those in the trash are
     * listed with `trash=true`, and only then. Sub-agents are not in the list, except in the trash: with
     * `agent_of` they are listed below the conversations that they work for.
     */
    listConversations(params?: Types.ListConversationsParams): Promise<Types.ConversationPage>;
    /**
     * Create a conversation.
     *
     * All fields are optional. With an `id` that exists, the stored conversation is returned unchanged, so that
     * the request can be sent twice. `history` is what the conversation begins with.
     */
    createConversation(body?: Types.CreateBody, params?: CallOptions): Promise<Types.Conversation>;
    /**
     * Read a conversation.
     *
     * The `ETag` is its version, for `If-Match`.
     */
    getConversation(id: string, params?: CallOptions): Promise<Types.Conversation>;
    /**
     * Change a conversation.
     *
     * Changes the fields that are sent and no others. With `If-Match`, only the version that it names is
     * changed.
     */
    patchConversation(id: string, body: Types.ConversationBody, params?: Types.PatchConversationParams): Promise<Types.Conversation>;
    /**
     * Delete a conversation.
     *
     * Takes a whole id. The conversation is put in the trash, from which it can be restored. With `purge=true`
     * it is removed permanently, whether or not it is in the trash; what forks inherited stays readable through
     * them.
     */
    deleteConversation(id: string, params?: Types.DeleteConversationParams): Promise<Types.Conversation | Types.PurgeResult>;
    /**
     * Read the newest full copy.
     *
     * The newest full copy of a conversation, as it was written.
     */
    readNewestArchive(id: string, params?: Types.ReadNewestArchiveParams): Promise<Record<string, unknown>>;
    /**
     * Write a full copy.
     *
     * Writes a conversation as one JSON document, with all branches and attachments, into the object store. An
     * import reads it.
     */
    archive(id: string, params?: CallOptions): Promise<Types.Copy>;
    /**
     * Read a full copy.
     *
     * A conversation as one JSON document, as it was written.
     */
    readArchive(id: string, key: string, params?: Types.ReadArchiveParams): Promise<Record<string, unknown>>;
    /**
     * List full copies.
     *
     * The newest full copies of a conversation, newest first.
     */
    listArchives(id: string, params?: Types.ListArchivesParams): Promise<Types.ArchiveList>;
    /**
     * List branches.
     *
     * All branches, oldest first. A branch begins where a message was edited or answered again. All are kept,
     * and one is the current one.
     */
    branches(id: string, params?: CallOptions): Promise<Types.BranchList>;
    /**
     * Brief another agent.
     *
     * What another agent is told as its first prompt to go on with a conversation: where it stood, in at most
     * 1,500 tokens. What was said stands in it as JSON of one line. `scrollback handoff` starts agents with it,
     * or with a session of their own.
     */
    brief(id: string, params?: CallOptions): Promise<Types.AgentBrief>;
    /**
     * Chat.
     *
     * Sends a message and streams the turn as server-sent events: frames `id: n` and `data: {json}`, then `data:
     * [DONE]`. The schema of the stream is that of one event. With `stream: false` the response is one JSON
     * object when the turn has ended.
     *
     * The history comes from the store, never from the client. `tool_results` continue a turn that waits for
     * them; `{}` tries the newest unanswered message again. The turn goes on if the client disconnects, and its
     * events can be read again. An error after the stream has begun is an event of type `error`.
     *
     * A mark such as `@[notes.md]`, `@[src/a.go:10:20]` or `@[context_search{"query":"tide"}]` in the message
     * names a file or folder within the roots of the conversation, or a recall tool; with `plain_marks` so does
     * `@notes.md`. What it names is stored behind the message and sent with it. The first `meta` event lists it;
     * what cannot be read has an `error` there, and the turn goes on.
     *
     * `without` names all messages, by seq, that this and later requests leave out, such as one that the model's
     * provider refuses: an error then has `permanent` and `suspect_seq`. They stay in the conversation and can
     * be searched; the manifest lists them as `left_out`, and `[]` takes them all back.
     *
     * With `web_search` the web is searched before the model answers; what was found is in a `search` event.
     * Where there is a limit, `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` say how many more
     * chats there may be.
     */
    chat(id: string, body: Omit<Types.ChatBody, "stream">, params?: Types.ChatParams & StreamOptions): EventStream<Types.ChatEvent>;
    /** Chat to the end: the result when the turn has ended. */
    chatToEnd(id: string, body: Omit<Types.ChatBody, "stream">, params?: Types.ChatToEndParams): Promise<Types.TurnAnswer>;
    /**
     * Clear.
     *
     * Compacts everything so far. The next request begins with a summary of everything so far and no message.
     */
    clear(id: string, params?: CallOptions): Promise<Types.Receipt>;
    /**
     * Compact.
     *
     * Folds old messages into a placeholder with a summary and a ref. The messages stay as they are and can be
     * read through the ref. Without `force`, only as much as the policy asks for is compacted.
     */
    compact(id: string, body?: Types.CompactRequest, params?: CallOptions): Promise<Types.Receipt>;
    /**
     * Show the context.
     *
     * Layer by layer what the next request would send, in tokens, and which messages stand behind refs. With
     * `content`, `items` has what the model would read, in the order it is sent. Nothing is sent.
     */
    context(id: string, params?: Types.ContextParams): Promise<Types.Manifest>;
    /**
     * Preview a draft.
     *
     * What sending a message would show the model, as `context` has it, with the draft as an item of the layer
     * `prompt`; `draft` is what it weighs, and `over` by how much the request exceeds the budget. If sending
     * compacts first, `compacts` says which messages; with `beside` the request does not wait for that, and with
     * `more` other compactions follow before it is sent. Nothing is written and no model is asked, so that it
     * can be asked again while somebody types. What a web search would find is not in it.
     */
    preview(id: string, body: Types.DraftBody, params?: CallOptions): Promise<Types.Manifest>;
    /**
     * Export.
     *
     * The whole conversation as a bundle, which another server can import without loss, or its current path as
     * lines of JSON.
     */
    export(id: string, params?: Types.ExportParams): Promise<Response>;
    /**
     * Complete a path.
     *
     * Paths in the folders of a conversation that continue what somebody has typed after `@`: first what the
     * folder in it holds, then whatever has its letters in that order. Put into a message as `@[path]`, each
     * refers to its file or folder. Without folders, or where nothing matches, the list is empty.
     */
    listFiles(id: string, params?: Types.ListFilesParams): Promise<Types.FileList>;
    /**
     * Fork.
     *
     * Continues from a message in a new conversation. The new conversation continues after message `seq`, and
     * shares what came before without copying it.
     */
    fork(id: string, body: Types.ForkBody, params?: CallOptions): Promise<Types.Conversation>;
    /**
     * Grep.
     *
     * Finds lines that match a regular expression. Looks through everything behind the refs of the conversation
     * and its live messages, through one ref, or through messages by their numbers (`392-410`), whose matches
     * have no ref and line numbers within the message. `total` counts all matches, also those that are not
     * returned.
     */
    grep(id: string, params: Types.GrepParams): Promise<Types.GrepResult>;
    /**
     * List what is kept.
     *
     * The sentences of a conversation that are carried word for word through every compaction: to-dos, traits
     * and instructions, each in the order in which they were said. They are found when a message is stored. What
     * was said several times stands where it was said last.
     */
    listKept(id: string, params?: Types.ListKeptParams): Promise<Types.KeptList>;
    /**
     * Keep a sentence.
     *
     * Keeps a sentence of a message, whatever the rules say of it. The message must hold the text. Without
     * `kind`, what it is follows from how it reads. The server stores what was said; this adds to it, and
     * changes no message.
     */
    keep(id: string, body: Types.KeptBody, params?: CallOptions): Promise<Types.Kept>;
    /**
     * Tick off, or reopen.
     *
     * Says that a to-do is done, or that a sentence stands again. It holds for the sentence wherever it was said
     * in this conversation.
     */
    patchKept(id: string, keptId: string, body: Types.KeptStateBody, params?: CallOptions): Promise<Types.Kept>;
    /**
     * Drop a sentence.
     *
     * The sentence is no longer carried. Its message stays as it is, and `PATCH` with `open` lets the sentence
     * stand again.
     */
    dropKept(id: string, keptId: string, params?: CallOptions): Promise<Types.Kept>;
    /**
     * List messages.
     *
     * A page of a branch's path, oldest first. `turns` are those between its messages that have no stored
     * answer: running, cut off or failed. `meta` has what is known about turns besides: how long their models
     * thought, and what was found on the web.
     */
    listMessages(id: string, params?: Types.ListMessagesParams): Promise<Types.MessagePage>;
    /**
     * List receipts.
     *
     * The compactions so far, newest first. In a fork also those of its ancestors that it still shows
     * (`inherited`). Those that were undone are marked.
     */
    receipts(id: string, params?: Types.ReceiptsParams): Promise<Types.ReceiptList>;
    /**
     * Redo a compaction.
     *
     * Without a body the compaction that was undone last is done again; with `segment`, all up to the one that
     * made it. No model is asked: the same segments come back. If the conversation shows something else by now,
     * that is a conflict. With `dry_run` nothing is changed: the receipt says what it would come to.
     */
    recompact(id: string, body?: Types.RecompactRequest, params?: CallOptions): Promise<Types.Receipt>;
    /**
     * List refs.
     *
     * Newest first. What can be read behind this conversation's refs: compacted messages (`history`) and
     * attachments and long outputs (`artifact`).
     */
    listRefs(id: string, params?: Types.ListRefsParams): Promise<Types.RefPage>;
    /**
     * Read an original.
     *
     * The original as Markdown or as it was attached, in pages of bytes that end between characters. Messages
     * are read by their numbers too, compacted or not: `392` or `392-410`, also written with `#` (`%23` in a
     * path), at most 10,000 at once. Numbers mean the path of the conversation as it is now; of one that is not
     * on it, `not_found` says which are. The last six characters of a ref's id, or more, are enough if no other
     * ref of the conversation ends so.
     */
    readRef(id: string, ref: string, params?: Types.ReadRefParams): Promise<Types.Page>;
    /**
     * List leaves.
     *
     * What a compacted run consists of, oldest first. A roll-up has the segments that it was made of, which may
     * be rolled up themselves; any other segment has one leaf, itself. `tokens` is what the messages weigh and
     * `card_tokens` what stands for them.
     */
    listLeaves(id: string, ref: string, params?: CallOptions): Promise<Types.Leaves>;
    /**
     * Read the end of an original.
     *
     * The end of an original, as of a long output.
     */
    tailRef(id: string, ref: string, params?: Types.TailRefParams): Promise<Types.Tail>;
    /**
     * Restore a conversation.
     *
     * Takes a conversation out of the trash. Does nothing to a conversation that is not in the trash.
     */
    restoreConversation(id: string, params?: CallOptions): Promise<Types.Conversation>;
    /**
     * Rewind.
     *
     * Makes an earlier message the newest, or switches to another branch. With `seq`, message `seq` of the
     * branch's path becomes the newest: what followed stays readable on its own branch. With only a `branch`,
     * that branch becomes the current one.
     */
    rewind(id: string, body: Types.PlaceBody, params?: CallOptions): Promise<Types.Conversation>;
    /**
     * List segments.
     *
     * The segments that stand for compacted messages in the current view, oldest first, and the numbers of the
     * pinned messages.
     */
    listSegments(id: string, params?: CallOptions): Promise<Types.SegmentList>;
    /**
     * Shape.
     *
     * All messages on the current path in bins of equally many: when the first of a bin was stored, what its
     * messages weigh in bytes, and how many are yours and the assistant's. Meant for drawing the whole log at
     * once.
     */
    shape(id: string, params?: Types.ShapeParams): Promise<Types.Shape>;
    /**
     * Stop a turn.
     *
     * What the turn has written is kept as a message. A turn that has ended stays as it is.
     */
    cancelTurn(id: string, turn: string, params?: CallOptions): Promise<Types.CanceledTurn>;
    /**
     * Show what a turn saw.
     *
     * What each step of a turn sent to its model, from what was stored when it was sent: runs of messages,
     * segments and what they weighed. With `content`, the items of the last of the steps have what the model
     * read, laid out again from the log; `partial` says that this is not exactly what was sent, because
     * something that it was made from is no longer known.
     */
    turnContext(id: string, turn: string, params?: Types.TurnContextParams): Promise<Types.TurnContext>;
    /**
     * Follow a turn.
     *
     * The events of a turn after a number, and those that are still to come. A client that lost its connection
     * reads on from the last `id` it saw; one that comes late gets a `snapshot` in place of the pieces.
     */
    turnEvents(id: string, turn: string, params?: Types.TurnEventsParams & StreamOptions): EventStream<Types.ChatEvent>;
    /**
     * Undo a compaction.
     *
     * Without a body the newest compaction is undone; with `segment`, all back to the one that made it. With
     * `dry_run` nothing is changed: the receipt says what it would come to.
     */
    uncompact(id: string, body?: Types.UncompactRequest, params?: CallOptions): Promise<Types.Receipt>;
    /**
     * Follow all conversations.
     *
     * What is done to the conversations that the caller may see, by whichever process, as server-sent events:
     * frames `id: n` and `data: {json}`. The stream has no end. A client that connects again sends the last `id`
     * it saw, as browsers do by themselves, and gets what it missed; `reset` says that some of that is not kept
     * any more, and that it should read again what it shows. `turn` events are no substitute for the events of
     * one turn: they say that it began or ended.
     */
    events(params?: Types.EventsParams & StreamOptions): EventStream<Types.Change>;
    /**
     * Import.
     *
     * The body is the file: a bundle, or another tool's transcript (JSON lines, Gemini CLI), recognised by its
     * content. Importing a file again adds what it has more.
     */
    import(file: Upload, params?: Types.ImportParams): Promise<Types.ImportResult>;
    /**
     * List keys.
     *
     * Keys that reach no further than the caller's own, oldest first, those that have ended too. It needs admin
     * access. An admin of some projects is shown the keys of these projects, without what they may use.
     */
    listKeys(params?: CallOptions): Promise<Types.KeyList>;
    /**
     * Make a key.
     *
     * Makes a key for a person or a program. Its secret is in the response, and nowhere else: only its hash is
     * stored. A key reaches no further than the caller, who needs admin access; a budget needs access to all
     * projects.
     */
    addKey(body: Types.KeyBody, params?: CallOptions): Promise<Types.MadeKey>;
    /**
     * Revoke a key.
     *
     * Ends a key; servers refuse it within a second. One that is revoked already stays as it is. It needs admin
     * access.
     */
    revokeKey(keyId: string, params?: CallOptions): Promise<Types.Key>;
    /**
     * Limits, policies and formats.
     *
     * How large requests, messages, attachments and imports may be here, how many chats may begin in a time, and
     * what may be chosen: the policies of compaction with their numbers, and the formats in which conversations
     * come in and leave.
     */
    limits(params?: CallOptions): Promise<Types.LimitsBody>;
    /**
     * List models.
     *
     * The models that are set up here. The default model is the first. `limit_from` says how each window is
     * known. `web_search` says who can search the web for a model. `efforts` are the levels that its thinking
     * can be set to. `here` says that a model runs on this machine, and `offline` that it only quotes what was
     * said. `images` says whether it takes images, where that is known.
     */
    listModels(params?: CallOptions): Promise<Types.ModelList>;
    /**
     * List projects.
     *
     * Projects that the caller may see, with how many conversations each has.
     */
    listProjects(params?: CallOptions): Promise<Types.ProjectList>;
    /**
     * Read a project.
     *
     * A project, with what its conversations inherit. One that has conversations and nothing stored is at
     * version 0.
     */
    getProject(name: string, params?: CallOptions): Promise<Types.Project>;
    /**
     * Store a project.
     *
     * Replaces all that is stored of a project: what is missing is empty afterwards. Its conversations inherit
     * it where they say nothing themselves. It needs admin access.
     */
    putProject(name: string, body: Types.ProjectBody, params?: Types.PutProjectParams): Promise<Types.Project>;
    /**
     * Delete a project.
     *
     * Removes what is stored of a project, and no conversation. It needs admin access.
     */
    deleteProject(name: string, params?: Types.DeleteProjectParams): Promise<Types.DeletedProject>;
    /**
     * List what is kept in a project.
     *
     * What stands in the newest hundred conversations of a project, the newest conversation first.
     */
    listProjectKept(name: string, params?: CallOptions): Promise<Types.KeptList>;
    /**
     * Make the sample conversation.
     *
     * A conversation of 3,000 messages about tide gauges, made on the server without a model or a network, that
     * can be searched, compacted and opened. Its `meta` says `{"sample": true}`. Asked for again on the same
     * day, the one that is there is returned. It is removed like any other: `DELETE` with `purge=1`.
     */
    sample(body?: Types.SampleRequest, params?: CallOptions): Promise<Types.Conversation>;
    /**
     * Search.
     *
     * Looks for words in all messages that the caller may see, compacted or not, with their neighbours. `total`
     * and `conversations` say how many there are, once all that matched were ranked; `next` is the offset of the
     * next page.
     */
    search(params: Types.SearchParams): Promise<Types.SearchResult>;
    /**
     * Who am I?.
     *
     * Who the caller is, what it may do, in which projects, and whether requests need a key here.
     */
    whoami(params?: CallOptions): Promise<Types.Who>;
    /**
     * Sign in.
     *
     * Exchanges a key for a cookie that no script can read, for the page. Programs send their key with each
     * request instead. It needs no key.
     */
    signIn(body: Types.SignInBody, params?: CallOptions): Promise<Types.Who>;
    /**
     * Sign out.
     *
     * Ends the sign-in that the cookie stands for, and removes the cookie. It needs no key, and does nothing
     * without a cookie.
     */
    signOut(params?: CallOptions): Promise<void>;
    /**
     * List the remotes.
     *
     * The folders, buckets and machines that the store keeps one history with: when each was last met from here,
     * how many files are still to come, and why it could not be met the last time. It needs admin access to all
     * projects.
     */
    listRemotes(params?: CallOptions): Promise<Types.RemoteList>;
    /**
     * Usage.
     *
     * What calls to models have cost, by whole days in UTC. Tokens, cost and calls, one entry for each group and
     * currency. Calls that other tools made, which an import brought, have entries of their own, with
     * `imported`; they count against no budget. Figures that a provider did not report are estimated;
     * `estimated_share` says how many.
     */
    usage(params?: Types.UsageParams): Promise<Types.UsageAnswer>;
    /**
     * Health.
     *
     * Needs no key. It does not touch the store. `data` is told to this machine only: programs that have the
     * data folder know by it whether this server serves it.
     */
    healthz(params?: CallOptions): Promise<Types.Health>;
    /**
     * Liveness.
     *
     * The same as `/healthz`, by the name that orchestrators expect. Needs no key. It does not touch the store.
     */
    livez(params?: CallOptions): Promise<Types.Health>;
    /**
     * Metrics.
     *
     * What the server counts, in Prometheus' text format: requests by route, turns, compactions, tokens, and the
     * process itself. It needs a key where the API does.
     */
    metrics(params?: CallOptions): Promise<Response>;
    /**
     * Description.
     *
     * This description, as OpenAPI 3.1. `/docs` shows it to people.
     */
    openapi(params?: CallOptions): Promise<Record<string, unknown>>;
    /**
     * Readiness.
     *
     * Says within five seconds whether the store can be written and read back, and whether the server goes on:
     * one that was told to end is not ready. Needs no key.
     */
    readyz(params?: CallOptions): Promise<Types.Readiness>;
}
