/** The client, with the groups of the API. */
import { Builds } from "./builds/Builds.ts"
import { Calls } from "./Calls.ts"
import { Eval } from "./Eval.ts"
import { Files } from "./files/Files.ts"
import { AdminEndpoints } from "./generated/AdminEndpoints.ts"
import { AlertsEndpoints } from "./generated/AlertsEndpoints.ts"
import { AuditEndpoints } from "./generated/AuditEndpoints.ts"
import { CanariesEndpoints } from "./generated/CanariesEndpoints.ts"
import { ContextEndpoints } from "./generated/ContextEndpoints.ts"
import { DeadLettersEndpoints } from "./generated/DeadLettersEndpoints.ts"
import { DeliveriesEndpoints } from "./generated/DeliveriesEndpoints.ts"
import { DomainsEndpoints } from "./generated/DomainsEndpoints.ts"
import { EnvEndpoints } from "./generated/EnvEndpoints.ts"
import { EventsEndpoints } from "./generated/EventsEndpoints.ts"
import { LinksEndpoints } from "./generated/LinksEndpoints.ts"
import { PausesEndpoints } from "./generated/PausesEndpoints.ts"
import { PreviewsEndpoints } from "./generated/PreviewsEndpoints.ts"
import { ProjectsEndpoints } from "./generated/ProjectsEndpoints.ts"
import { RecordingsEndpoints } from "./generated/RecordingsEndpoints.ts"
import { RunsEndpoints } from "./generated/RunsEndpoints.ts"
import { SchedulesEndpoints } from "./generated/SchedulesEndpoints.ts"
import { ServiceKeysEndpoints } from "./generated/ServiceKeysEndpoints.ts"
import { SessionsEndpoints } from "./generated/SessionsEndpoints.ts"
import { StatusEndpoints } from "./generated/StatusEndpoints.ts"
import { TriggersEndpoints } from "./generated/TriggersEndpoints.ts"
import { Operations } from "./Operations.ts"
import { Repl } from "./Repl.ts"
import type { RetryOptions } from "./RequestOptions.ts"
import { Streams } from "./streams/Streams.ts"
import { Caller } from "./transport/Caller.ts"
import { Connection, type Token } from "./transport/Connection.ts"

export interface ClientOptions {
  /** URL of the server, such as `https://weft.example.com`. In browsers, a path on the page's host is allowed. */
  readonly baseUrl: string
  /** An API key, service key or session. A function is called before every attempt. */
  readonly token?: Token | undefined
  /** The host's own token, for `admin`. */
  readonly adminToken?: Token | undefined
  /** Name of a preview that all requests act on, instead of the environment of the token. */
  readonly preview?: string | undefined
  /** By default the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Default: 4 attempts, with delays from 250 ms to 30 s. `false` turns retries off. */
  readonly retry?: Partial<RetryOptions> | false | undefined
  /** Timeout of each attempt, in milliseconds; 60,000 by default. */
  readonly timeoutMs?: number | undefined
}

export class WeftClient {
  readonly projects: ProjectsEndpoints
  readonly builds: Builds
  readonly canaries: CanariesEndpoints
  readonly previews: PreviewsEndpoints
  readonly triggers: TriggersEndpoints
  readonly schedules: SchedulesEndpoints
  readonly context: ContextEndpoints
  readonly files: Files
  readonly links: LinksEndpoints
  readonly events: EventsEndpoints
  readonly runs: RunsEndpoints
  readonly recordings: RecordingsEndpoints
  readonly deliveries: DeliveriesEndpoints
  readonly deadLetters: DeadLettersEndpoints
  readonly pauses: PausesEndpoints
  readonly operations: Operations
  readonly alerts: AlertsEndpoints
  readonly calls: Calls
  readonly eval: Eval
  readonly repl: Repl
  readonly sessions: SessionsEndpoints
  readonly serviceKeys: ServiceKeysEndpoints
  readonly streams: Streams
  readonly env: EnvEndpoints
  readonly domains: DomainsEndpoints
  readonly audit: AuditEndpoints
  readonly status: StatusEndpoints
  readonly admin: AdminEndpoints

  constructor(options: ClientOptions) {
    const caller = makeCaller(options, options.token)
    this.projects = new ProjectsEndpoints(caller)
    this.builds = new Builds(caller)
    this.canaries = new CanariesEndpoints(caller)
    this.previews = new PreviewsEndpoints(caller)
    this.triggers = new TriggersEndpoints(caller)
    this.schedules = new SchedulesEndpoints(caller)
    this.context = new ContextEndpoints(caller)
    this.files = new Files(caller)
    // A link is itself a credential.
    this.links = new LinksEndpoints(makeCaller(options, undefined))
    this.events = new EventsEndpoints(caller)
    this.runs = new RunsEndpoints(caller)
    this.recordings = new RecordingsEndpoints(caller)
    this.deliveries = new DeliveriesEndpoints(caller)
    this.deadLetters = new DeadLettersEndpoints(caller)
    this.pauses = new PausesEndpoints(caller)
    this.operations = new Operations(caller)
    this.alerts = new AlertsEndpoints(caller)
    this.calls = new Calls(caller)
    this.eval = new Eval(caller)
    this.repl = new Repl(caller)
    this.sessions = new SessionsEndpoints(caller)
    this.serviceKeys = new ServiceKeysEndpoints(caller)
    this.streams = new Streams(caller)
    this.env = new EnvEndpoints(caller)
    this.domains = new DomainsEndpoints(caller)
    this.audit = new AuditEndpoints(caller)
    this.status = new StatusEndpoints(caller)
    this.admin = new AdminEndpoints(makeCaller(options, options.adminToken))
  }
}

/** Creates a client. Throws `TypeError` if `baseUrl` is not a URL. */
export const createClient = (options: ClientOptions): WeftClient => new WeftClient(options)

const defaultRetry: RetryOptions = { attempts: 4, baseMs: 250, maxMs: 30_000 }

const makeCaller = (
  { baseUrl, retry = {}, timeoutMs = 60_000, ...options }: ClientOptions,
  token: Token | undefined
) => {
  const { origin, pathname } = new URL(baseUrl, globalThis.location?.href)
  return new Caller(
    new Connection({
      baseUrl: `${origin}${pathname.replace(/\/+$/, "")}`,
      token,
      preview: options.preview,
      // Browsers require `globalThis` as receiver, and tests may replace `globalThis.fetch`.
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      retry: { ...defaultRetry, ...(retry === false ? { attempts: 1 } : retry) },
      timeoutMs
    })
  )
}
