/** The client: everything that a server offers, by groups. */
import { Builds } from "./builds/Builds.ts"
import { Calls } from "./Calls.ts"
import { Files } from "./files/Files.ts"
import { AdminEndpoints } from "./generated/AdminEndpoints.ts"
import { AuditEndpoints } from "./generated/AuditEndpoints.ts"
import { ContextEndpoints } from "./generated/ContextEndpoints.ts"
import { DomainsEndpoints } from "./generated/DomainsEndpoints.ts"
import { EnvEndpoints } from "./generated/EnvEndpoints.ts"
import { EventsEndpoints } from "./generated/EventsEndpoints.ts"
import { LinksEndpoints } from "./generated/LinksEndpoints.ts"
import { ProjectsEndpoints } from "./generated/ProjectsEndpoints.ts"
import { RunsEndpoints } from "./generated/RunsEndpoints.ts"
import { SchedulesEndpoints } from "./generated/SchedulesEndpoints.ts"
import { ServiceKeysEndpoints } from "./generated/ServiceKeysEndpoints.ts"
import { SessionsEndpoints } from "./generated/SessionsEndpoints.ts"
import { StatusEndpoints } from "./generated/StatusEndpoints.ts"
import { TriggersEndpoints } from "./generated/TriggersEndpoints.ts"
import type { RetryOptions } from "./RequestOptions.ts"
import { Streams } from "./streams/Streams.ts"
import { Caller } from "./transport/Caller.ts"
import { Connection, type Token } from "./transport/Connection.ts"

export interface ClientOptions {
  /** Where the API is, such as `https://weft.example.com`; a page may give a path of its own host. */
  readonly baseUrl: string
  /** An API key, a service key or a session; a function is asked before every request. */
  readonly token?: Token | undefined
  /** The host's own token, for `admin`. */
  readonly adminToken?: Token | undefined
  /** The platform's by default. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** 4 attempts, pauses from 250 milliseconds to 30 seconds by default; `false` repeats nothing. */
  readonly retry?: Partial<RetryOptions> | false | undefined
  /** Milliseconds that each attempt may take; 60,000 by default. */
  readonly timeoutMs?: number | undefined
}

export class WeftClient {
  readonly projects: ProjectsEndpoints
  readonly builds: Builds
  readonly triggers: TriggersEndpoints
  readonly schedules: SchedulesEndpoints
  readonly context: ContextEndpoints
  readonly files: Files
  readonly links: LinksEndpoints
  readonly events: EventsEndpoints
  readonly runs: RunsEndpoints
  readonly calls: Calls
  readonly sessions: SessionsEndpoints
  readonly serviceKeys: ServiceKeysEndpoints
  readonly streams: Streams
  readonly env: EnvEndpoints
  readonly domains: DomainsEndpoints
  readonly audit: AuditEndpoints
  readonly status: StatusEndpoints
  readonly admin: AdminEndpoints

  constructor(options: ClientOptions) {
    const caller = callerOf(options, options.token)
    this.projects = new ProjectsEndpoints(caller)
    this.builds = new Builds(caller)
    this.triggers = new TriggersEndpoints(caller)
    this.schedules = new SchedulesEndpoints(caller)
    this.context = new ContextEndpoints(caller)
    this.files = new Files(caller)
    // A link is a credential of its own.
    this.links = new LinksEndpoints(callerOf(options, undefined))
    this.events = new EventsEndpoints(caller)
    this.runs = new RunsEndpoints(caller)
    this.calls = new Calls(caller)
    this.sessions = new SessionsEndpoints(caller)
    this.serviceKeys = new ServiceKeysEndpoints(caller)
    this.streams = new Streams(caller)
    this.env = new EnvEndpoints(caller)
    this.domains = new DomainsEndpoints(caller)
    this.audit = new AuditEndpoints(caller)
    this.status = new StatusEndpoints(caller)
    this.admin = new AdminEndpoints(callerOf(options, options.adminToken))
  }
}

/** Fails with `TypeError` for a `baseUrl` that is no URL. */
export const createClient = (options: ClientOptions): WeftClient => new WeftClient(options)

const retryUsual: RetryOptions = { attempts: 4, baseMs: 250, maxMs: 30_000 }

const callerOf = ({ baseUrl, retry = {}, timeoutMs = 60_000, ...options }: ClientOptions, token: Token | undefined) => {
  const { origin, pathname } = new URL(baseUrl, globalThis.location?.href)
  return new Caller(
    new Connection({
      baseUrl: `${origin}${pathname.replace(/\/+$/, "")}`,
      token,
      // Browsers want to be asked as themselves, and tests replace what is asked.
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      retry: { ...retryUsual, ...(retry === false ? { attempts: 1 } : retry) },
      timeoutMs
    })
  )
}
