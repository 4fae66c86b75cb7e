// Made of the API's description by go test ./internal/server -run TestTypeScriptClient -update.
import type { CallOptions } from './transport.js';

/** What can be done about an error. */
export type Advice = 'set_key' | 'check_key' | 'top_up' | 'check_address' | 'choose_model' | 'raise_limit' | 'rephrase' | 'wait' | 'retry' | 'leave_out';

/** What an agent is told first that goes on with a conversation. */
export interface AgentBrief {
    /** A first prompt of at most 1,500 tokens. */
    brief: string;
}

/** Where a sub-agent was started: by a call in a turn of the conversation that it works for. */
export interface AgentRef {
    call_id?: string;
    id: string;
    turn_id?: string;
}

/** Full copies of a conversation, newest first. */
export interface ArchiveList {
    archives: Copy[];
}

/** An attachment. */
export interface Artifact {
    created_at: number;
    /** The SHA-256 of its bytes. */
    id: string;
    /** Recognised by its content. */
    media_type: string;
    name?: string;
    /** Bytes. */
    size: number;
}

/** What the summaries of an import took. */
export interface Asked {
    calls: number;
    cost: number;
    held?: number;
    summaries: number;
}

/** A backup of the store, as one file. */
export interface Backup {
    /** Its size. */
    bytes: number;
    /** Whether it is opened with an identity only. */
    encrypted?: boolean;
    /** By its name. */
    made_at: number;
    name: string;
}

/** What was found in a backup. */
export interface BackupContents {
    /** How many are in it. */
    conversations: number;
    /** sqlite or postgres: what it was made of. */
    database: string;
    /** Bytes of the database in it. */
    database_bytes: number;
    /** Whether it was opened with an identity. */
    encrypted?: boolean;
    /** The name of the format. */
    format: string;
    made_at: number;
    /** How many are in it. */
    messages: number;
    /** Bytes of all objects in it. */
    object_bytes: number;
    /** How many files are in it beside the database. */
    objects: number;
    /** The version that made it. */
    program: string;
    /** The version of the format. */
    version: number;
}

/** Where a server's backups go, and which there are. */
export interface BackupStanding {
    /** When one is made each day, as 03:00. */
    at: string;
    /** Newest first. */
    backups: Backup[];
    /** Whether new ones are encrypted. */
    encrypt: boolean;
    /** How long they stay, in milliseconds. */
    keep_ms: number;
    /** create or verify while one is being made or read. */
    running?: string;
    /** Since when. */
    since?: number;
    /** The folder or the bucket. */
    to: string;
}

/** A line of a file that could not be read. */
export interface Bad {
    line: number;
    reason: string;
    source?: string;
}

/**
 * A closed block of the answer that is being written, as HTML. It is only sent on request (`html`), behind
 * the event that closes it and without a number; on reading on, those of the step so far come first. When
 * the message is stored, its own HTML replaces them: it knows the links and footnotes that are defined
 * further down.
 */
export interface BlockEvent {
    /** Characters (code points) of the step's content before the block. */
    at: number;
    /**
     * Characters before its end. The first block begins at 0 and each where the one before ends; what follows
     * the last one is still open.
     */
    end: number;
    /** Sanitised. Empty for what only defines something. */
    html: string;
    /** 0, 1, 2 and so on within the step. */
    index: number;
    type: 'block';
}

/** A branch of a conversation. */
export interface BranchEntry {
    /** The last message that it shares with its parent. */
    at_seq: number;
    /** Whether the conversation is on it. */
    current: boolean;
    /** Its newest message. */
    head_seq: number;
    id: string;
    /**
     * The branches that it goes on from at their ends, nearest first, where nothing else goes on from there:
     * they are one with it, and no entries of their own.
     */
    joined?: string[];
    /** How many messages its path has. */
    messages: number;
    /** The branch it begins on; missing for the first. */
    parent?: string;
    updated_at: number;
    without?: number[];
}

/** The branches of a conversation, oldest first. */
export interface BranchList {
    branches: BranchEntry[];
}

/** What calls of models may use in a day (UTC). */
export interface BudgetBody {
    /** Of the money, such as USD. */
    currency?: string;
    /** 0 for no bound. */
    money_per_day?: number;
    /** 0 for no bound. */
    tokens_per_day?: number;
}

/** A turn that was asked to stop. */
export interface CanceledTurn {
    turn_id: string;
}

/** What stands for a message that was compacted: the messages that the card covers, and since when. */
export interface Card {
    first_seq: number;
    last_seq: number;
    since: number;
}

/**
 * Something that was done to a conversation. `title`, `version`, `branch`, `messages` and `updated_at` are
 * the conversation's when the event is sent, and missing if it is gone.
 */
export interface Change {
    agent_of?: AgentRef;
    branch?: string;
    conversation_id?: string;
    /** When it was put in the trash; missing for one that is not there. */
    deleted_at?: number;
    /** Of `message`: the first new one. Of `compaction`: the first that it covers. */
    first_seq?: number;
    /** The conversation was purged, or moved to a project that the caller may not see. */
    gone?: boolean;
    /** The last of these. */
    last_seq?: number;
    messages?: number;
    project?: string;
    /** Of a compaction: its newest segment. */
    ref?: string;
    /** Of a turn. */
    state?: TurnState;
    title?: string;
    turn_id?: string;
    type: ChangeType;
    /** The compaction was taken back. */
    undone?: boolean;
    updated_at?: number;
    version?: number;
}

/**
 * What was done. `reset` says that some changes are not kept any more: whoever follows reads again what it
 * shows.
 */
export type ChangeType = 'conversation' | 'message' | 'turn' | 'compaction' | 'trash' | 'reset';

/**
 * A message, results of tools, or neither; with what this one turn should do otherwise than its
 * conversation.
 */
export interface ChatBody {
    /** Numbers of the policy, by name. */
    compaction?: Record<string, number>;
    /** Also send closed blocks of the answer as HTML, as block events. */
    html?: boolean;
    /** Window of the model in tokens. */
    limit?: number;
    /** A text, or a list of parts. */
    message?: string | PartBody[];
    /** Id of the new message, a UUID. */
    message_id?: string;
    /** The model to ask. Default: the conversation's. */
    model?: string;
    /** @path names a file without brackets too. */
    plain_marks?: boolean;
    /** When and how much is compacted. */
    policy?: string;
    /** none, minimal, low, medium, high, xhigh or max. */
    reasoning_effort?: string;
    /** Whether the events are streamed. Default: true. */
    stream?: boolean;
    /** Whether the model thinks before it answers. */
    thinking?: boolean;
    /** Tokens that it may think for. */
    thinking_budget?: number;
    /** Results for exactly the calls that a waiting turn left open. */
    tool_results?: ToolResultBody[];
    /**
     * Tools that the model may call, and the client runs. They are kept with the conversation until they are
     * sent again.
     */
    tools?: ToolBody[];
    /** The time zone of the person, such as Europe/Madrid: the model is told the date there. */
    tz?: string;
    /** Search the web before the answer, for this request only. Who can is in GET /api/models. */
    web_search?: boolean;
    /**
     * All messages, by seq, that this and later requests of the branch leave out; [] takes all back. A call goes
     * with its results.
     */
    without?: number[];
}

/** One event of a turn. The field `type` says which. */
export type ChatEvent = BlockEvent | CompactingEvent | CompactionEvent | CreditsEvent | DeltaEvent | DoneEvent | ErrorEvent | MessageEvent | MetaEvent | ReasoningEvent | SearchEvent | SnapshotEvent | ToolCallEvent | ToolResultEvent | TurnEvent | UsageEvent;

/** What kind of error it is. */
export type Code = 'invalid' | 'not_found' | 'conflict' | 'over_budget' | 'refused' | 'rate_limited' | 'unavailable' | 'canceled' | 'internal';

/** How to compact, if otherwise than the conversation's policy says. */
export interface CompactRequest {
    /** Numbers of the policy, by name. */
    compaction?: Record<string, number>;
    /** Compact even if the policy does not ask for it yet. */
    force?: boolean;
    /** The policy to use this time. */
    policy?: string;
}

/** The request does not fit its budget and waits for a compaction. */
export interface CompactingEvent {
    /** What it may have. */
    budget: number;
    /** Of the request. */
    tokens: number;
    type: 'compacting';
}

/** A compaction: its receipt. */
export interface CompactionEvent {
    archive?: string;
    calls?: number;
    card_tokens?: number;
    checked?: boolean;
    cleared?: boolean;
    cost: number;
    created_at: number;
    duration_ms: number;
    first_seq: number;
    folded_tokens?: number;
    inherited?: boolean;
    last_seq: number;
    lines?: string[];
    messages?: number;
    reason?: string;
    redo?: boolean;
    refs: string[];
    result: CompactionResult;
    segments: string[];
    summary_by: string;
    summary_result?: CompactionResult;
    summary_why?: string;
    tokens_after: number;
    tokens_before: number;
    tries?: Try[];
    type: 'compaction';
    undone?: boolean;
}

/**
 * What a compaction came to: `noop` had nothing to cut, and `inflated` would not have made the window
 * smaller.
 */
export type CompactionResult = 'compacted' | 'noop' | 'inflated' | 'empty_summary' | 'model_error' | 'conflict';

/** A piece of a request, with what the model reads. */
export interface ContextItem {
    /** It is the message that is being written. */
    draft?: boolean;
    /**
     * The next item is in the same message of the request. Joined, the items of the block of what was compacted
     * are the text of that one message.
     */
    joined_with_next?: boolean;
    kind: ItemKind;
    /**
     * Of a summary or placeholder the last message that it covers; of results that are sent as one message the
     * last of these.
     */
    last_seq?: number;
    layer: Layer;
    name?: string;
    parts: Part[];
    /** What a summary or placeholder stands for. */
    ref?: string;
    role?: Role;
    seq?: number;
    tokens: number;
    /** Of the kind `tools`: the definitions. */
    tools?: Tool[];
}

/** A conversation and its settings. */
export interface Conversation {
    agent_of?: AgentRef;
    /** The current branch. */
    branch: string;
    created_at: number;
    /** When it was put in the trash. */
    deleted_at?: number;
    id: string;
    instructions: string;
    /** Window of the model in tokens; 0 leaves it to what is known about the model. */
    limit: number;
    /** How many messages the current branch has. */
    messages: number;
    /** Kept for the client as it is. */
    meta: unknown;
    /** Empty for the server's default. */
    model: string;
    /** What it was forked from. */
    parent?: ParentRef;
    /** Messages that stay in sight when they are compacted. */
    pinned_seqs: number[];
    policy: string;
    project: string;
    /** Folders that the conversation works in. */
    roots: string[];
    settings: Settings;
    title: string;
    updated_at: number;
    /** Grows with each change; also the ETag. */
    version: number;
}

/** What a client may set of a conversation. Fields that are missing stay as they are. */
export interface ConversationBody {
    /** Sent to the model before everything else. */
    instructions?: string;
    /** Window of the model in tokens; 0 leaves it to the catalog. */
    limit?: number;
    /** Kept for the client as it is. */
    meta?: Record<string, unknown>;
    /** Empty for the server's default. */
    model?: string;
    /** Messages to keep in sight when they are compacted. */
    pinned_seqs?: number[];
    /** When and how much is compacted. */
    policy?: string;
    project?: string;
    /** Folders to work in, out of those that the operator granted. */
    roots?: string[];
    settings?: SettingsBody;
    title?: string;
}

/** A page of conversations, most recently changed first. */
export interface ConversationPage {
    conversations: Conversation[];
    /** The cursor of the next page; null at the end. */
    next: string | null;
}

/** A full copy of a conversation. */
export interface Copy {
    bytes: number;
    created_at: number;
    /** What it is called; the end of its path. */
    key: string;
    /** Of its bytes, in hexadecimal. */
    sha256: string;
}

/** A conversation to be created, and what it begins with. */
export interface CreateBody {
    /** The messages it begins with. */
    history?: HistoryBody[];
    /** UUID; if it exists, that conversation is returned. */
    id?: string;
    instructions?: string;
    /** Window of the model in tokens; 0 leaves it to the catalog. */
    limit?: number;
    /** Kept for the client as it is. */
    meta?: Record<string, unknown>;
    model?: string;
    /** Messages to keep in sight when they are compacted. */
    pinned_seqs?: number[];
    policy?: string;
    project?: string;
    /** Folders to work in, out of those that the operator granted. */
    roots?: string[];
    settings?: SettingsBody;
    title?: string;
}

/** What the turn has cost so far, as the provider reports it. */
export interface CreditsEvent {
    amount: number;
    currency: string;
    type: 'credits';
}

/** Of a text that only shows the ends of it: what the whole weighs. */
export interface Cut {
    bytes: number;
    /** Where the whole is. */
    ref: string;
    /** Of a long text, an estimate. */
    tokens: number;
}

/** What calls of models may use in a day (UTC); what is missing has no bound. */
export interface DailyBudget {
    currency?: string;
    money_per_day?: number;
    tokens_per_day?: number;
}

/** A project of which nothing is stored any more. */
export interface DeletedProject {
    deleted: boolean;
    name: string;
}

/** A piece of the answer. */
export interface DeltaEvent {
    /** How many characters (Unicode code points) of this step precede it. */
    at: number;
    content: string;
    type: 'delta';
}

/** The turn has ended; the last event. */
export interface DoneEvent {
    /** Why the model stopped: stop, tool_calls, length, max_steps, truncated, bound, or what the provider says. */
    finish_reason: string;
    message_id: string;
    status: TurnState;
    turn_id: string;
    type: 'done';
}

/** A message that is being written, and what it would be sent with. */
export interface DraftBody {
    /** Numbers of the policy, by name. */
    compaction?: Record<string, number>;
    /** With what the model would read. */
    content?: boolean;
    limit?: number;
    /** A text, or a list of parts. */
    message?: string | PartBody[];
    model?: string;
    plain_marks?: boolean;
    policy?: string;
    reasoning_effort?: string;
    thinking?: boolean;
    thinking_budget?: number;
    tz?: string;
    web_search?: boolean;
    /** All messages, by seq, that the request would leave out; `[]` takes all back. What is stored stays. */
    without?: number[];
}

/** Why the turn failed. */
export interface ErrorEvent {
    advice?: Advice;
    cause?: string;
    code: Code;
    message: string;
    permanent?: boolean;
    setting?: string;
    suspect_seq?: number;
    type: 'error';
    upstream?: boolean;
}

/** Messages that the next request leaves out. */
export interface Excluded {
    first_seq: number;
    last_seq: number;
    reason: string;
    /** Where they can be read. */
    ref: string | null;
}

/** Why a turn failed. */
export interface Failure {
    advice?: Advice;
    cause?: string;
    code: Code;
    message: string;
    permanent?: boolean;
    setting?: string;
    suspect_seq?: number;
    upstream?: boolean;
}

/** The body of every error. */
export interface Fault {
    error: FaultDetail;
}

/** What is wrong. */
export interface FaultDetail {
    advice?: Advice;
    /** What the provider of the model said, shortened. */
    cause?: string;
    code: Code;
    /** For people. */
    message: string;
    /** The field or parameter that it is about, as a path: settings.tools[0].name. */
    param?: string;
    /** The same request will be refused again. */
    permanent?: boolean;
    request_id?: string;
    /** The environment variable or flag that the advice is about. */
    setting?: string;
    /**
     * Of a refusal that will come again: the first message since the last answer. A request `without` it may go.
     */
    suspect_seq?: number;
}

/** A path that a message may refer to. */
export interface FileEntry {
    folder?: boolean;
    /** As `@[path]` names it; a folder's ends in `/`. */
    path: string;
}

/** Paths that continue what was typed. */
export interface FileList {
    files: FileEntry[];
}

/** A file that was attached. */
export interface FilePart {
    artifact: string;
    media_type: string;
    name?: string;
    opaque?: unknown;
    size: number;
    type: 'file';
}

/** A file that was uploaded before. */
export interface FilePartBody {
    /** The id of the upload. */
    artifact?: string;
    media_type?: string;
    name?: string;
    opaque?: unknown;
    size?: number;
    type: 'file';
}

/** A compaction that sending a message would cause. */
export interface Foreseen {
    /** The request fits, and does not wait for it. */
    beside?: boolean;
    first_seq: number;
    last_seq: number;
    messages: number;
    /** Others follow before the request is sent. */
    more?: boolean;
    /** Of the whole request, by the lines that are kept without a model. */
    tokens_after: number;
    tokens_before: number;
}

/** Where the new conversation begins, and its title. */
export interface ForkBody {
    /** Default: the current one. */
    branch?: string;
    /** 0 is before the first message. Default: the end of the branch. */
    seq?: number;
    /** Default: copy of the parent's. */
    title?: string;
}

/** A line that matches. */
export interface GrepMatch {
    after?: string[];
    before?: string[];
    content: string;
    /** The leaf that holds it, when the ref that was asked about is a roll-up. */
    leaf?: string;
    line: number;
    /** Where it is; null for a live message, which `seq` names. */
    ref: string | null;
    /** The message that holds or mentions the line. */
    seq?: number;
}

/** The matches of a regular expression. */
export interface GrepResult {
    matches: GrepMatch[];
    /** Whether something could not be searched; `unread` names it. */
    partial?: boolean;
    /** All matches, also those that are not returned. */
    total: number;
    unread?: string[];
}

/** The server runs. */
export interface Health {
    data?: string;
    ok: boolean;
    version: string;
}

/** A message that a new conversation begins with. */
export interface HistoryBody {
    /** A text, or a list of parts. */
    content?: string | PartBody[];
    model?: string;
    name?: string;
    /** A text, or a list of parts. */
    parts?: string | PartBody[];
    role: 'system' | 'user' | 'assistant' | 'tool';
}

/** A message that was found. */
export interface Hit {
    after?: Message[];
    before?: Message[];
    /** The branch that has it, if that is not the current one. */
    branch?: string;
    card?: Card;
    /** At most 4,000 characters. */
    content: string;
    conversation_id: string;
    created_at: number;
    inside?: boolean;
    message_id: string;
    /** Whether it is on the current branch. */
    on_path: boolean;
    /**
     * Where its conversation was imported from. What the importing machine keeps to itself, such as paths of the
     * tool's own files, is left out.
     */
    origin?: Origin;
    pinned?: boolean;
    /** Where it can be read, if it is compacted. */
    ref?: string;
    role: Role;
    score: number;
    seq: number;
    snippet: string;
    /** Where the words are in the snippet: first character, and the one after the last. */
    spans: number[][];
}

/** What the hooks of an agent did, in the last 90 days. */
export interface HookRuns {
    /** How often they were called. */
    asked: number;
    /** Missing if they never were. */
    last_asked?: number;
    /** Milliseconds of an answer. */
    median_ms: number;
    /** How many answers came after their time and were dropped. */
    slow: number;
    /** How often they told the agent something. */
    spoke: number;
}

/** An image that was attached. */
export interface ImagePart {
    artifact: string;
    detail?: string;
    height?: number;
    media_type: string;
    name?: string;
    opaque?: unknown;
    size: number;
    type: 'image';
    url?: string;
    width?: number;
}

/** An image that was uploaded before. */
export interface ImagePartBody {
    /** The id of the upload. */
    artifact?: string;
    detail?: string;
    height?: number;
    media_type?: string;
    name?: string;
    opaque?: unknown;
    size?: number;
    type: 'image';
    url?: string;
    width?: number;
}

/** What an import did. */
export interface ImportResult {
    asked?: Asked;
    conversations: Imported[];
    /** How many conversations were put in the trash or purged here, and were not brought again. */
    deleted?: number;
    /** Whether something was held back because it was still being written. */
    held?: boolean;
    /** Of a copy: the new ids by the old ones. */
    ids?: Record<string, string>;
    /** How much that is not talk was left out, by kind. */
    left_out?: Record<string, number>;
    /** How many secrets were replaced. */
    masked?: number;
    more_skipped?: number;
    skipped: Bad[];
    unsealed?: boolean;
}

/** A conversation that an import created or extended. */
export interface Imported {
    created: boolean;
    id: string;
    /** Newly written. */
    messages: number;
    result?: string;
    source?: string;
    tool?: string;
    /** Now in the conversation. */
    total: number;
}

/** What a request takes from the project of its conversation. */
export interface Inherited {
    /** project NAME. */
    from: string;
    /** Their names. */
    settings?: string[];
    /** Of the project's instructions. */
    tokens: number;
}

/** What a part of a window is. */
export type ItemKind = 'instructions' | 'tools' | 'environment' | 'folded' | 'summary' | 'placeholder' | 'acknowledgement' | 'message' | 'repair' | 'request_only' | 'pin';

/** A sentence of a message that is carried word for word while it is open. */
export interface Kept {
    /** Who found that it is to be kept. */
    by: KeptBy;
    conversation_id: string;
    /** Of what a rule found, when its message was stored. */
    created_at: number;
    id: string;
    kind: KeptKind;
    message_id: string;
    /** Who said it. Only to-dos are the assistant's. */
    role: Role;
    /** The id of the key whose caller said it; missing for the operator and for imports. */
    said_by?: string;
    /** The message's. */
    seq: number;
    state: KeptState;
    text: string;
}

/** Kept sentences that still stand and have no room in a request: how many, and the ref that reads them. */
export interface KeptApart {
    ref: string;
    sentences: number;
}

/** A sentence to be kept. */
export interface KeptBody {
    /** Default: what it reads as. */
    kind?: 'trait' | 'instruction' | 'todo';
    /** The message that says it. */
    seq: number;
    /** The sentence as it stands in the message, at most 600 bytes. */
    text: string;
}

/** Who found that a sentence is to be kept. */
export type KeptBy = 'rule' | 'person';

/**
 * What a kept sentence is: what is so about the person, how to answer and work from now on, or what is left
 * to do.
 */
export type KeptKind = 'trait' | 'instruction' | 'todo';

/** Kept sentences: to-dos, traits and instructions, each by seq. */
export interface KeptList {
    kept: Kept[];
}

/**
 * Whether a kept sentence is still carried: only what is open is. A to-do is done, a sentence is withdrawn
 * by a later one, or dropped by a person.
 */
export type KeptState = 'open' | 'done' | 'withdrawn' | 'dropped';

/** What becomes of a kept sentence. */
export interface KeptStateBody {
    /** done is for to-dos; open lets it stand again. */
    state: 'done' | 'open';
}

/** A key, without its secret. */
export interface Key {
    created_at: number;
    door?: string;
    expires_at?: number;
    id: string;
    last_used_at?: number;
    name: string;
    projects: string[];
    revoked_at?: number;
    role: string;
}

/** A key to be made. */
export interface KeyBody {
    /** What it may use in a day; needs access to all projects. */
    budget?: BudgetBody;
    /** How its clients of other APIs are answered: faithful, window or record; empty leaves it to the project. */
    door?: string;
    /** Unix ms; 0 for when it is revoked. */
    expires_at?: number;
    /** Whose it is: the person or program that uses it. */
    name: string;
    /** What it may see; none for all projects. */
    projects?: string[];
    role: 'read' | 'write' | 'admin';
}

/**
 * A key as it is listed. `rate` and `budget` are shown to an admin of all projects, where something was set
 * for it.
 */
export interface KeyEntry {
    budget?: DailyBudget;
    created_at: number;
    door?: string;
    expires_at?: number;
    id: string;
    last_used_at?: number;
    name: string;
    projects: string[];
    rate?: Rate;
    revoked_at?: number;
    role: string;
}

/** Keys, oldest first, those that have ended too. */
export interface KeyList {
    keys: KeyEntry[];
}

/** The layers of a window, in the order in which they are sent. */
export type Layer = 'instructions' | 'environment' | 'summary' | 'placeholders' | 'messages' | 'prompt' | 'request_only';

/** A compacted run of messages. */
export interface Leaf {
    /** What stands for it weighs so many tokens. */
    card_tokens: number;
    first_seq: number;
    from: number;
    /** A line on what it is about. */
    hint: string;
    last_seq: number;
    messages: number;
    ref: string;
    /** Whether it has leaves itself. */
    rolled_up?: boolean;
    /** The model that wrote its summary, `client` if a client compacted its history itself, or `extractive`. */
    summary_by: string;
    to: number;
    /** Its messages weigh so many tokens. */
    tokens: number;
}

/** What the server of a model has taught about it. */
export interface Learned {
    api?: string;
    dropped?: string[];
    factor?: number;
    limit?: number;
    limit_at?: number;
    limit_from?: LimitFrom;
    listed_at?: number;
    max_images?: number;
    max_output?: number;
    no_images?: string[];
    no_media?: string[];
    strict?: Strictness;
}

/** What a compacted run consists of, oldest first. */
export interface Leaves {
    first_seq: number;
    last_seq: number;
    leaves: Leaf[];
    messages: number;
    ref: string;
}

/** How the size of a window is known. An assumed one is a guess. */
export type LimitFrom = 'request' | 'conversation' | 'project' | 'flag' | 'config' | 'list' | 'refusal' | 'catalog' | 'assumed';

/** What this server takes. */
export interface LimitsBody {
    attachment_bytes: number;
    /** Of a request. */
    body_bytes: number;
    /** How many chats may begin in a time, counted for each key or address. */
    chats: Rate;
    /** The formats in which a conversation can be exported, the default first. */
    exports: string[];
    import_bytes: number;
    /** The formats of files that can be imported. */
    imports: string[];
    message_chars: number;
    /** That one request shows a model. */
    message_images: number;
    message_parts: number;
    /** How conversations are compacted; the first is what is used where none is named. */
    policies: PolicyEntry[];
    /** What may be set of a policy. */
    policy_numbers: NumberEntry[];
    /** The tools whose conversations can be imported. */
    tools: string[];
}

/** How a coding agent of this machine stands. */
export interface MachineAgent {
    /** Its name, as in `scrollback install --agent`, or watch for the service of `install --watch`. */
    agent: string;
    /** Missing where it calls no hooks. */
    asked?: HookRuns;
    /** Of its sessions, how many have something that is not here. */
    behind?: number;
    /** Files that have it ask this program. */
    files: string[];
    /** Whether its program or its settings are on the machine. */
    found: boolean;
    /** Events at which it calls this program. */
    hooks: string[];
    /** Whether it is set up to ask this program. */
    installed: boolean;
    /** Whether its hooks are told nothing. */
    off: boolean;
    /** What is in the way. */
    problems: SetupProblem[];
    /** The program that it calls. */
    program?: string;
    /** How many sessions it keeps on the machine, where they were counted. */
    sessions?: number;
    /** As its makers write it. */
    title: string;
}

/** What is changed of an agent. */
export interface MachineAgentBody {
    /** Whether its hooks are told nothing. */
    off: boolean;
}

/** The agents of a machine. */
export interface MachineAgentList {
    agents: MachineAgent[];
}

/** A backup that was made. */
export interface MadeBackup {
    /** Its size. */
    bytes: number;
    /** How many are in it. */
    conversations: number;
    /** sqlite or postgres: what it was made of. */
    database: string;
    /** Bytes of the database in it. */
    database_bytes: number;
    /** Whether it is opened with an identity only. */
    encrypted?: boolean;
    /** The name of the format. */
    format: string;
    made_at: number;
    /** How many are in it. */
    messages: number;
    name: string;
    /** Bytes of all objects in it. */
    object_bytes: number;
    /** How many files are in it beside the database. */
    objects: number;
    /** The version that made it. */
    program: string;
    /** Names of older ones that were removed. */
    removed?: string[];
    /** The version of the format. */
    version: number;
}

/** A new key with its secret. */
export interface MadeKey {
    budget?: DailyBudget;
    created_at: number;
    door?: string;
    expires_at?: number;
    id: string;
    last_used_at?: number;
    name: string;
    projects: string[];
    rate?: Rate;
    revoked_at?: number;
    role: string;
    /** What its user sends or signs in with. It is shown only now. */
    secret: string;
}

/** What the next request would hold. */
export interface Manifest {
    /** Tokens that the request may have: the limit without what is kept for the answer. */
    budget: number;
    bytes: number;
    /** The share that begins like the request before, and may be cached by the provider. */
    cache_reuse: number;
    /** Of a draft: what sending it compacts; missing for nothing. */
    compacts?: Foreseen;
    /** The tokens at which the policy compacts before a request; 0 if it never does because of tokens. */
    compacts_at: number;
    conversation_id: string;
    /** Of a draft: what it weighs in tokens. */
    draft?: number;
    excluded: Excluded[];
    /** The request of a client of another API went on as it stood; what is shown is what it brought. */
    forwarded?: boolean;
    images: number;
    inherited?: Inherited[];
    /** On request: what the model reads, in the order it is sent. */
    items?: ContextItem[];
    kept_apart?: KeptApart[];
    layers: ManifestLayer[];
    limit: number;
    limit_from: LimitFrom;
    model: string;
    /** By how many tokens the request exceeds the budget, before anything is compacted. */
    over: number;
    /** What is shown is not exactly what was sent: something that it was made from is no longer known. */
    partial?: boolean;
    policy: string;
    /** Tokens at its beginning that are the same as in the request before. */
    reused: number;
    sent_at?: number;
    /** Of a step that was sent: which one of its turn, from 1. */
    step?: number;
    tokens: number;
}

/** A part of a layer. */
export interface ManifestItem {
    /** It is the message that is being written. */
    draft?: boolean;
    kind: ItemKind;
    /** Of a summary, a placeholder or a run of messages: the last one. */
    last_seq?: number;
    ref?: string;
    /** What the message refers to. */
    references?: ManifestReference[];
    seq?: number;
    tokens: number;
}

/** A layer of the window, and what is in it. */
export interface ManifestLayer {
    items: ManifestItem[];
    name: Layer;
    tokens: number;
}

/** What a message refers to, and what it weighs in the window. */
export interface ManifestReference {
    error?: string;
    /** The message that has the unchanged content. */
    same_as?: number;
    source: string;
    tokens: number;
    version?: number;
}

/** A message. It never changes. */
export interface Message {
    branch: string;
    conversation_id: string;
    created_at: number;
    id: string;
    /** Kept as it is. */
    meta?: unknown;
    /** Who wrote it. */
    model?: string;
    name?: string;
    parts: Part[];
    role: Role;
    /** Its place on its path: 1, 2, 3 and so on. */
    seq: number;
    status: Status;
    /** Estimated, in o200k tokens. */
    tokens: number;
    /** Empty for an imported message. */
    turn_id: string;
    usage?: Usage;
}

/** A message of this turn is stored. */
export interface MessageEvent {
    message_id: string;
    seq: number;
    type: 'message';
}

/** A page of messages. */
export interface MessagePage {
    messages: ShownMessage[];
    /** What is known about the turns of these messages besides, by turn. */
    meta?: Record<string, TurnMeta>;
    /** The seq after which the next page begins; null at the end. */
    next: number | null;
    /** The turn that runs now. */
    running?: string;
    /** Turns between these messages that have no stored answer. */
    turns: TurnEntry[];
    without?: number[];
}

/** Facts about the request to the model. Later ones override earlier ones, field by field. */
export interface MetaEvent {
    budget: number;
    cache_reuse: number;
    limit: number;
    limit_from: LimitFrom;
    model?: string;
    /** What the prompt refers to, in the first of a turn. */
    references?: Reference[];
    thinking_ms?: number;
    tokens: number;
    type: 'meta';
}

/** A model that can be asked. */
export interface ModelEntry {
    default: boolean;
    efforts: string[];
    /** Its tokens for each o200k token. */
    factor: number;
    here?: boolean;
    images?: boolean;
    learned: boolean;
    /** Window in tokens. */
    limit: number;
    limit_from: LimitFrom;
    max_output?: number;
    name: string;
    offline?: boolean;
    price?: Price;
    provider?: string;
    taught?: Learned;
    /** Who can search the web for it: its provider, or a SearXNG; missing for nobody. */
    web_search?: string;
}

/** The models that are set up here. */
export interface ModelList {
    models: ModelEntry[];
}

/** A number that a policy has, and within which bounds it may be set. */
export interface NumberEntry {
    least: number;
    most: number;
    name: string;
    /** Whether it counts something; else it is a share, or a factor. */
    whole: boolean;
}

/** Where a conversation was imported from. */
export interface Origin {
    conversation_id: string;
    /** The folder that was worked in. */
    folder?: string;
    /** The newest git branch there. */
    git_branch?: string;
    gone_at?: number;
    /** What the tool calls the conversation. */
    id: string;
    imported_at: number;
    name?: string;
    place?: string;
    root?: string;
    shared?: boolean;
    stamp?: string;
    /** The name of the tool, such as codex. */
    tool: string;
}

/** A page of an original. */
export interface Page {
    /** Of the whole original. */
    bytes: number;
    content: string;
    done: boolean;
    /** Where the next page begins. */
    next_offset: number;
    offset: number;
    ref: string;
}

/** Where a conversation was forked from. */
export interface ParentRef {
    branch: string;
    id: string;
    seq: number;
}

/** A part of a message. The field `type` says which. */
export type Part = FilePart | ImagePart | ReasoningPart | TextPart | ToolCallPart | ToolResultPart;

/** A part of a message that is sent. The field `type` says which. */
export type PartBody = FilePartBody | ImagePartBody | ReasoningPartBody | TextPartBody | ToolCallPartBody | ToolResultPartBody;

/** A point in a conversation. */
export interface PlaceBody {
    /** Default: the current one. */
    branch?: string;
    /** 0 is before the first message. Default: the end of the branch. */
    seq?: number;
}

/**
 * A policy of compaction with its own numbers. Those of auto are what it comes to with a model that writes
 * summaries.
 */
export interface PolicyEntry {
    name: string;
    numbers: Record<string, number>;
}

/** Per million tokens. */
export interface Price {
    cache_write?: number;
    cached_input?: number;
    currency: string;
    input: number;
    output: number;
}

/** A project, what its conversations inherit, and how many there are. */
export interface Project {
    budget?: DailyBudget;
    /** Those that are not in the trash. */
    conversations: number;
    created_at?: number;
    instructions?: string;
    limit?: number;
    model?: string;
    name: string;
    policy?: string;
    settings?: Settings;
    title: string;
    updated_at?: number;
    /** Grows with each change; also the ETag. 0: nothing is stored. */
    version: number;
}

/** What is stored of a project. What is missing is empty. */
export interface ProjectBody {
    budget?: BudgetBody;
    /** They stand before a conversation's own. */
    instructions?: string;
    /** Window of the model in tokens; 0 leaves it to the configuration and the catalog. */
    limit?: number;
    /** For conversations that name none. */
    model?: string;
    policy?: string;
    settings?: SharedSettings;
    title?: string;
}

/** The projects. */
export interface ProjectList {
    projects: Project[];
}

/** What was removed permanently. */
export interface PurgeResult {
    artifacts: number;
    id: string;
    /** Messages that stay, because forks inherited them. */
    kept: number;
    removed: number;
    waiting?: number;
}

/** How many chats may begin in a time of `per_ms` ms. */
export interface Rate {
    chats: number;
    per_ms: number;
}

/** The server can do its work. */
export interface Readiness {
    ok: boolean;
}

/** A piece of what the model thinks. */
export interface ReasoningEvent {
    at: number;
    content: string;
    type: 'reasoning';
}

/** What the model thought. */
export interface ReasoningPart {
    opaque?: unknown;
    text: string;
    type: 'reasoning';
}

/** What the model thought. */
export interface ReasoningPartBody {
    opaque?: unknown;
    text?: string;
    type: 'reasoning';
}

/** What a compaction did. */
export interface Receipt {
    archive?: string;
    calls?: number;
    /** What the placeholders and the summary weigh that stand for them. */
    card_tokens?: number;
    checked?: boolean;
    cleared?: boolean;
    cost: number;
    created_at: number;
    duration_ms: number;
    first_seq: number;
    /** What these messages weigh. */
    folded_tokens?: number;
    /** It belongs to a conversation that this one continues. */
    inherited?: boolean;
    last_seq: number;
    /** What stayed in words, the beginning of it. */
    lines?: string[];
    /** How many messages were compacted. */
    messages?: number;
    /**
     * Why: `window`, `bytes`, `images`, `messages` (as many were new as the policy counts), `ahead` (after an
     * answer), `import`, `by_hand`, `cleared`, or `client` (a client compacted its history itself).
     */
    reason?: string;
    /** It was undone, and can be done again. */
    redo?: boolean;
    refs: string[];
    result: CompactionResult;
    segments: string[];
    /** The model that wrote the summary, `client` if a client compacted its history itself, or `extractive`. */
    summary_by: string;
    summary_result?: CompactionResult;
    summary_why?: string;
    tokens_after: number;
    tokens_before: number;
    /** Summaries that were asked for and could not be used. */
    tries?: Try[];
    undone?: boolean;
}

/** The compactions of a conversation, newest first. */
export interface ReceiptList {
    receipts: Receipt[];
}

/** How far to redo. */
export interface RecompactRequest {
    /** Change nothing: only say what it would come to. */
    dry_run?: boolean;
    /** A segment, or its ref. */
    segment?: string;
}

/** Something that can be read behind a ref. */
export interface RefEntry {
    branch?: string;
    bytes: number;
    conversation_id: string;
    created_at: number;
    first_seq?: number;
    from?: number;
    hint: string;
    kind: string;
    last_seq?: number;
    media_type: string;
    messages?: number;
    /** history:<id> or artifact:<id>; stable for ever. */
    ref: string;
    sha256: string;
    to?: number;
}

/** A page of refs, newest first. */
export interface RefPage {
    /** The cursor of the next page; null at the end. */
    next: string | null;
    refs: RefEntry[];
}

/** What a mark in a prompt named, as it was then. The server sets it. */
export interface Reference {
    /** Of the content. */
    bytes?: number;
    /** Why there is no content. */
    error?: string;
    kind: ReferenceKind;
    /** Of a file, as a fence of Markdown names it. */
    language?: string;
    /** As it stands in the prompt. */
    mark: string;
    /** What was left out or made smaller. */
    note?: string;
    /** The seq of the message that has the unchanged content. */
    same_as?: number;
    /** Of the content, in hex. */
    sha256?: string;
    /** A path, or a recall tool with its arguments. */
    source: string;
    /** Of the source in its conversation, from 1. The same content has the same version. */
    version?: number;
}

/** What a mark in a prompt names. */
export type ReferenceKind = 'file' | 'folder' | 'image' | 'tool';

/** How the store stands with its remotes. */
export interface RemoteList {
    /** By name. */
    remotes: Standing[];
}

/** Who speaks. */
export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** In which language the sample is made, and where it goes. */
export interface SampleRequest {
    /** zh, or English */
    lang?: string;
    /** Where it goes; sample unless named. */
    project?: string;
}

/** A search of the web. */
export interface Search {
    /** Why nothing was found, for people. */
    error?: string;
    query: string;
    /** The pages that were found, best first. */
    results: Source[];
}

/** The web was searched for this turn. */
export interface SearchEvent {
    /** Why nothing was found, for people. */
    error?: string;
    query: string;
    /** The pages that were found, best first. */
    results: Source[];
    type: 'search';
}

/** What a search found. */
export interface SearchResult {
    conversations?: number;
    hits: Hit[];
    /**
     * What share of the messages the index of search has, if not all of them. The others were read for this
     * search, the newest first.
     */
    indexed?: number;
    next: number | null;
    total?: number;
    /** Whether there was more than could be looked at. */
    truncated?: boolean;
}

/** What stands for compacted messages, oldest first. */
export interface SegmentList {
    head_seq: number;
    pinned_seqs: number[];
    segments: Leaf[];
}

/** How a conversation behaves. */
export interface Settings {
    agents?: boolean;
    archive_on_compact?: boolean;
    compaction?: Record<string, number>;
    door?: string;
    keep?: string;
    pinned?: boolean;
    reasoning_effort?: string;
    recall_scope?: string;
    thinking?: boolean;
    thinking_budget?: number;
    tools?: Tool[];
}

/** Settings to change. Those that are missing stay as they are. */
export interface SettingsBody {
    /** Whether the model may start sub-agents. */
    agents?: boolean;
    /** Whether a full copy is written after each compaction. */
    archive_on_compact?: boolean;
    /** Numbers of the policy, by name. */
    compaction?: Record<string, number>;
    /**
     * Of a project only: how clients of other APIs are answered, faithful, window or record; empty leaves it to
     * the server.
     */
    door?: string;
    /** How far what is kept of people's words goes: conversation, or project. */
    keep?: string;
    pinned?: boolean;
    /** none, minimal, low, medium, high, xhigh or max; empty leaves it to the model. */
    reasoning_effort?: string;
    /** How far the model's own look-ups reach: conversation, project or all. */
    recall_scope?: string;
    /** Whether the model thinks before it answers. */
    thinking?: boolean;
    /** Tokens it may think for; 0 leaves it to the model. */
    thinking_budget?: number;
    tools?: ToolBody[];
}

/** What keeps an agent from asking, or has it ask twice. */
export interface SetupProblem {
    /** Since when. */
    at?: number;
    file?: string;
    /** moved, other, untrusted, doubled, off or unreadable; of the service gave-up. */
    kind: string;
    line?: number;
    /** The reason, in words. */
    why?: string;
}

/** All messages of a path at a glance. */
export interface Shape {
    bins: ShapeBin[];
    /** When the first message was stored. */
    from: number;
    head_seq: number;
    /** When the last message was stored. */
    to: number;
}

/** A run of messages of a shape. */
export interface ShapeBin {
    /** Messages of the assistant. */
    assistant: number;
    /** When the first of them was stored. */
    at: number;
    /** Of the contents of its messages. */
    bytes: number;
    first_seq: number;
    last_seq: number;
    /** Messages of the user. */
    user: number;
}

/** Settings that conversations inherit. */
export interface SharedSettings {
    /** Numbers of the policy, by name. */
    compaction?: Record<string, number>;
    /**
     * Of a project only: how clients of other APIs are answered, faithful, window or record; empty leaves it to
     * the server.
     */
    door?: string;
    /** How far what is kept of people's words goes: conversation, or project. */
    keep?: string;
    /** none, minimal, low, medium, high, xhigh or max; empty leaves it to the model. */
    reasoning_effort?: string;
    /** How far the model's own look-ups reach: conversation, project or all. */
    recall_scope?: string;
    /** Whether the model thinks before it answers. */
    thinking?: boolean;
    /** Tokens it may think for; 0 leaves it to the model. */
    thinking_budget?: number;
}

/** A message. It never changes. */
export interface ShownMessage {
    branch: string;
    conversation_id: string;
    created_at: number;
    /** On request: one entry for each part, the sanitised HTML of a text, or null. */
    html?: (string | null)[];
    id: string;
    /** Kept as it is. */
    meta?: unknown;
    /** Who wrote it. */
    model?: string;
    name?: string;
    parts: Part[];
    role: Role;
    /** Its place on its path: 1, 2, 3 and so on. */
    seq: number;
    status: Status;
    /** Estimated, in o200k tokens. */
    tokens: number;
    /** Empty for an imported message. */
    turn_id: string;
    usage?: Usage;
}

/** A key that a browser exchanges for a cookie. */
export interface SignInBody {
    /** A key, as scrollback keys add printed it. */
    key: string;
}

/** The step so far, for a client that attaches late. */
export interface SnapshotEvent {
    at: number;
    content: string;
    reasoning: string;
    tool_calls: ToolCall[];
    type: 'snapshot';
}

/** A page of the web. */
export interface Source {
    /** An excerpt, or empty. */
    text: string;
    title: string;
    url: string;
}

/** When a remote was last met, and what waits there. */
export interface Standing {
    /** Why it could not be met the last time. */
    error?: string;
    /** When it was met last; 0: never. */
    last_met: number;
    /** A folder, a bucket, or the address of a machine. */
    remote: string;
    /** Files that are still to come. */
    waiting: number;
}

/** How a message ended. */
export type Status = 'complete' | 'interrupted' | 'failed';

/** How strictly a server judges the order of roles. */
export type Strictness = 'turns' | 'no_system';

/** The last lines of an original. */
export interface Tail {
    content: string;
    lines: number;
    ref: string;
}

/** A text. */
export interface TextPart {
    cut?: Cut;
    opaque?: unknown;
    /** What the text is of, if it was not said but named by a mark of the prompt before it. */
    reference?: Reference;
    text: string;
    type: 'text';
}

/** A text. */
export interface TextPartBody {
    opaque?: unknown;
    text?: string;
    type: 'text';
}

/** A tool that the client runs. */
export interface Tool {
    description: string;
    /** How a client of another API has it, where it differs from a function with this name. */
    form?: ToolForm;
    name: string;
    parameters: unknown;
}

/** A tool that the model may call, and the client runs. */
export interface ToolBody {
    description?: string;
    name: string;
    /** A JSON schema. */
    parameters?: Record<string, unknown>;
}

/** A call of a tool. */
export interface ToolCall {
    arguments: unknown;
    id: string;
    name: string;
    opaque?: unknown;
}

/** The model calls a tool. */
export interface ToolCallEvent {
    arguments: unknown;
    id: string;
    name: string;
    type: 'tool_call';
}

/** A call of a tool. */
export interface ToolCallPart {
    arguments: unknown;
    id: string;
    name: string;
    opaque?: unknown;
    type: 'tool_call';
}

/** A call of a tool. */
export interface ToolCallPartBody {
    arguments?: unknown;
    id?: string;
    name?: string;
    opaque?: unknown;
    type: 'tool_call';
}

/** How a client of another API has a tool. */
export interface ToolForm {
    /** It was offered within the history, and also holds in requests that continue that history. */
    in_history?: boolean;
    name?: string;
    namespace?: string;
    /** It is called with a text, which a model gives as the argument `input`. */
    text?: boolean;
}

/** The result of a call: a text, or an artifact. */
export interface ToolResultBody {
    artifact?: string;
    call_id: string;
    is_error?: boolean;
    text?: string;
}

/** The result of a look-up that was run inside the turn. */
export interface ToolResultEvent {
    call_id: string;
    conversation_id?: string;
    name: string;
    ref?: string;
    text: string;
    type: 'tool_result';
}

/** The result of a call. */
export interface ToolResultPart {
    artifact?: string;
    call_id: string;
    cut?: Cut;
    is_error?: boolean;
    name: string;
    opaque?: unknown;
    recall?: boolean;
    text?: string;
    type: 'tool_result';
}

/** The result of a call. */
export interface ToolResultPartBody {
    artifact?: string;
    call_id?: string;
    is_error?: boolean;
    name?: string;
    opaque?: unknown;
    recall?: boolean;
    text?: string;
    type: 'tool_result';
}

/** A summary that was asked for and could not be used. */
export interface Try {
    model: string;
    result: CompactionResult;
    /** In words. */
    why: string;
}

/** What a turn came to. */
export interface TurnAnswer {
    /** The compactions during the turn. */
    compactions: Receipt[];
    finish_reason?: string;
    /** The answer; null if there is none. */
    message: Message | null;
    /** What the marks of the prompt named, or why it could not be read. */
    references?: Reference[];
    status: TurnState;
    turn_id: string;
    usage: Usage;
}

/** What the steps of a turn sent to its model. */
export interface TurnContext {
    model: string;
    started_at: number;
    steps: Manifest[];
    turn_id: string;
}

/** A turn that has no stored answer. */
export interface TurnEntry {
    /** The message it stands after. */
    after_seq: number;
    content?: string;
    ended_at?: number;
    error?: Failure;
    finish_reason?: string;
    message_id?: string;
    model?: string;
    reasoning?: string;
    /** Whether a chat request without a message answers it again. */
    retry?: boolean;
    started_at: number;
    state: TurnState;
    tool_calls?: ToolCall[];
    turn_id: string;
}

/** A turn begins. */
export interface TurnEvent {
    seq: number;
    turn_id: string;
    type: 'turn';
    user_message_id: string;
}

/** What is known about a turn that none of its messages says. */
export interface TurnMeta {
    /** The searches of the web for it. */
    search?: Search[];
    /** How long its model thought. */
    thinking_ms?: number;
}

/** How a turn is. */
export type TurnState = 'open' | 'waiting' | 'complete' | 'interrupted' | 'failed' | 'over_budget';

/** How far back to undo. */
export interface UncompactRequest {
    /** Change nothing: only say what it would come to. */
    dry_run?: boolean;
    /** A segment, or its ref. */
    segment?: string;
}

/** Tokens and cost of a call. */
export interface Usage {
    cache_write_tokens: number;
    cached_tokens: number;
    cost: number;
    currency: string;
    estimated: boolean;
    input_tokens: number;
    output_tokens: number;
    reasoning_tokens: number;
    total_tokens: number;
}

/** Sums of what calls have cost, and their total by currency. */
export interface UsageAnswer {
    total: UsageSum[];
    usage: UsageSum[];
}

/** Tokens and cost of the turn so far. */
export interface UsageEvent {
    cache_write_tokens: number;
    cached_tokens: number;
    cost: number;
    currency: string;
    estimated: boolean;
    input_tokens: number;
    output_tokens: number;
    reasoning_tokens: number;
    total_tokens: number;
    type: 'usage';
}

/** What calls of a group have cost. */
export interface UsageSum {
    cache_write_tokens: number;
    cached_tokens: number;
    calls: number;
    conversation?: string;
    cost: number;
    currency: string;
    day?: string;
    estimated: boolean;
    estimated_share: number;
    /** Whether other tools made the calls, and an import brought them. */
    imported?: boolean;
    input_tokens: number;
    /** The id of a key; empty for whoever runs the program. */
    key?: string;
    model?: string;
    output_tokens: number;
    project?: string;
    purpose?: string;
    reasoning_tokens: number;
    /** The tool that made imported calls, such as codex. */
    tool?: string;
    total_tokens: number;
}

/** A caller. */
export interface Who {
    /** Whether the coding agents of this machine are shown to the caller. */
    agents?: boolean;
    /** Whether the caller has to do with backups of the store. */
    backups?: boolean;
    /** When the key or the sign-in expires; missing if it does not. */
    expires_at?: number;
    /** Whether a request without a key is refused here. */
    key_needed: boolean;
    name: string;
    /** Those it may use; empty for all. */
    projects: string[];
    read_only?: boolean;
    /** read, write or admin. */
    role: string;
    /** Whether the caller sees the remotes of the store. */
    sync?: boolean;
}

/** What `upload` may be told. */
export interface UploadParams extends CallOptions {
    /** The conversation that may then use it. */
    conversation?: string;
    /** Its name. */
    name?: string;
}

/** What `fetchArtifact` may be told. */
export interface FetchArtifactParams extends CallOptions {
    /** A conversation that mentions it. Default: any. */
    conversation?: string;
}

/** What `listConversations` may be told. */
export interface ListConversationsParams extends CallOptions {
    /** Only those of this project. */
    project?: string;
    /** Words in the title. */
    q?: string;
    /** Those in the trash instead. */
    trash?: boolean;
    /** Only those that are pinned (`settings.pinned`). */
    pinned?: boolean;
    /** Ids of conversations, separated by commas: list the sub-agents that work for these, and nothing else. */
    agent_of?: string[];
    /** `next` of the page before; empty for the first page. */
    cursor?: string;
    /** How many at most. 0 means 50, and there are never more than 200. */
    limit?: number;
}

/** What `patchConversation` may be told. */
export interface PatchConversationParams extends CallOptions {
    /** The version to change. */
    if_match?: string;
}

/** What `deleteConversation` may be told. */
export interface DeleteConversationParams extends CallOptions {
    /** Remove it permanently. */
    purge?: boolean;
}

/** What `readNewestArchive` may be told. */
export interface ReadNewestArchiveParams extends CallOptions {
    /** Whether a browser saves it as a file, under the title of the conversation. */
    download?: boolean;
}

/** What `readArchive` may be told. */
export interface ReadArchiveParams extends CallOptions {
    /** Whether a browser saves it as a file, under the title of the conversation. */
    download?: boolean;
}

/** What `listArchives` may be told. */
export interface ListArchivesParams extends CallOptions {
    /** How many at most. 0 means 50, and there are never more than 200. */
    limit?: number;
}

/** What `chat` may be told. */
export interface ChatParams extends CallOptions {
    /** The same as `html` in the body. */
    html?: boolean;
    /**
     * Makes the request safe to send twice for 24 hours: the same body joins or replays the turn, another one is
     * a conflict. Default: `message_id`.
     */
    idempotency_key?: string;
}

/** What `chatToEnd` may be told. */
export interface ChatToEndParams extends CallOptions {
    /** The same as `html` in the body. */
    html?: boolean;
    /**
     * Makes the request safe to send twice for 24 hours: the same body joins or replays the turn, another one is
     * a conflict. Default: `message_id`.
     */
    idempotency_key?: string;
}

/** What `context` may be told. */
export interface ContextParams extends CallOptions {
    /** With what the model would read. */
    content?: boolean;
    /** The time zone of the person, such as Europe/Madrid: the model is told the date there. */
    tz?: string;
}

/** What `export` may be told. */
export interface ExportParams extends CallOptions {
    /** bundle (the default), jsonl, claude-code, codex, gemini-cli, opencode, pi, qwen-code, mtm or ipynb */
    format?: 'bundle' | 'jsonl' | 'claude-code' | 'codex' | 'gemini-cli' | 'opencode' | (string & {});
    /** Whether a bundle holds the files of its segments. */
    materialize?: boolean;
    /**
     * Whether what looks like a key or a token is taken out of the file; a bundle is then a copy with ids of its
     * own.
     */
    mask?: boolean;
}

/** What `listFiles` may be told. */
export interface ListFilesParams extends CallOptions {
    /** What was typed. Empty lists what the folders hold. */
    prefix?: string;
    /** How many at most. 0 means 50, and there are never more than 200. */
    limit?: number;
}

/** What `grep` may be told. */
export interface GrepParams extends CallOptions {
    /** A regular expression (RE2), at most 1,000 characters. */
    pattern: string;
    /** Only this ref, or these messages: `392` or `392-410`. */
    ref?: string;
    /** Matches to return. 0 means 50, and there are never more than 200. */
    max_results?: number;
    /** Lines to return before and after each match, at most 20. */
    context_lines?: number;
    /** Whether case matters. */
    case_sensitive?: boolean;
}

/** What `listKept` may be told. */
export interface ListKeptParams extends CallOptions {
    /** Also what no longer stands: what is done, withdrawn or dropped. */
    all?: boolean;
}

/** What `listMessages` may be told. */
export interface ListMessagesParams extends CallOptions {
    /** Default: the current branch. */
    branch?: string;
    /** Only messages before this seq; 0 for no such bound. */
    before?: number;
    /** Only messages after this seq; 0 begins with the first. Without it, the page ends with the newest. */
    after?: number;
    /** How many at most. 0 means 50, and there are never more than 200. */
    limit?: number;
    /** Also return the text of user and assistant messages as HTML, sanitised: `html`, parallel to `parts`. */
    html?: boolean;
}

/** What `receipts` may be told. */
export interface ReceiptsParams extends CallOptions {
    /** How many at most. 0 means 50, and there are never more than 200. */
    limit?: number;
}

/** What `listRefs` may be told. */
export interface ListRefsParams extends CallOptions {
    /** Only refs of this kind. */
    kind?: 'history' | 'artifact' | (string & {});
    /** How many at most. 0 means 50, and there are never more than 200. */
    limit?: number;
    /** `next` of the page before; empty for the first page. */
    cursor?: string;
}

/** What `readRef` may be told. */
export interface ReadRefParams extends CallOptions {
    /** The byte to begin with: `next_offset` of the page before. */
    offset?: number;
    /** Bytes at most. 0 means 8,192, and there are never more than 65,536. */
    limit?: number;
}

/** What `tailRef` may be told. */
export interface TailRefParams extends CallOptions {
    /** How many. 0 means 200, and there are never more than 2,000. */
    lines?: number;
}

/** What `shape` may be told. */
export interface ShapeParams extends CallOptions {
    /** How many bins at most. 0 means 240, and there are never more than 600. */
    bins?: number;
}

/** What `turnContext` may be told. */
export interface TurnContextParams extends CallOptions {
    /** Only this step, from 1; 0 for all. */
    step?: number;
    /** What the model read in the last of the steps. */
    content?: boolean;
}

/** What `turnEvents` may be told. */
export interface TurnEventsParams extends CallOptions {
    /** The number of the last event that the client has; 0 for all. */
    after?: number;
    /** Also send closed blocks of the answer as HTML, as `block` events. */
    html?: boolean;
}

/** What `events` may be told. */
export interface EventsParams extends CallOptions {
    /** The number of the last event that the client has. Without it, only what happens from now on is sent. */
    after?: number;
}

/** What `import` may be told. */
export interface ImportParams extends CallOptions {
    /** Its format. Default: as its content says. */
    from?: 'bundle' | 'jsonl' | 'gemini-cli' | (string & {});
    /** Where it goes. */
    project?: string;
    /** The conversation to extend. */
    into?: string;
    /** Whether a bundle gets ids of its own. */
    as_copy?: boolean;
    /** Whether models are asked for summaries of what is compacted. */
    summarize?: boolean;
    /** The file's name, which helps to recognise its format. */
    name?: string;
    /** Whether what looks like a key or a token is replaced before anything is stored. */
    mask?: boolean;
}

/** What `putProject` may be told. */
export interface PutProjectParams extends CallOptions {
    /** The version to replace, as an ETag: what somebody else has stored meanwhile is not overwritten. */
    if_match?: string;
}

/** What `deleteProject` may be told. */
export interface DeleteProjectParams extends CallOptions {
    /** The version to delete, as an ETag. */
    if_match?: string;
}

/** What `search` may be told. */
export interface SearchParams extends CallOptions {
    /** The time zone whose days are meant, such as Europe/Madrid. Default: UTC. */
    tz?: string;
    /**
     * Words. Those in quotation marks count for more, and must occur if there are no others; `role:user`,
     * `after:2026-03-01`, `before:2026-04` and `on:2026-03-05` narrow it down.
     */
    q: string;
    /** Only in this conversation. */
    conversation?: string;
    /** Only in this project. */
    project?: string;
    /** Only messages by this role. */
    role?: 'system' | 'user' | 'assistant' | 'tool' | (string & {});
    /** Only messages from this time on, in Unix ms. */
    from?: number;
    /** Only messages before this time, in Unix ms. */
    to?: number;
    /** Hits at most. 0 means 5, and there are never more than 100. */
    limit?: number;
    /** Where this page begins: `next` of the one before. The hits and their order are the same for every page. */
    offset?: number;
    /** Messages to return before and after each of the best three hits, at most 5. */
    around?: number;
    /** The best first, or the best ones by time. */
    order?: 'relevance' | 'time' | (string & {});
}

/** What `usage` may be told. */
export interface UsageParams extends CallOptions {
    /** The time zone whose days are meant, such as Europe/Madrid. Default: UTC. */
    tz?: string;
    /** Unix ms. */
    from?: number;
    /** Unix ms; 0 for now. */
    to?: number;
    /**
     * Any of `day`, `model`, `project`, `key`, `conversation`, `purpose` and `tool`, separated by commas. A
     * purpose is `turn`, `summary`, `title`, `search`, `embedding` or `imported`. The tool is the program whose
     * files had the calls; empty for this one.
     */
    group_by?: string;
    /** Only the calls of this conversation. */
    conversation?: string;
    /** Only so many entries, those with the most tokens first. 0 means all. */
    top?: number;
}
