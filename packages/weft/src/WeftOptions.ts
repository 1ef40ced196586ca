/** The configuration that a host passes to `createWeft`. */
import type { DomainsConfig, Plan } from "@weft/core"
import type {
  BlobsAdapter,
  ClusterAdapter,
  DatabaseAdapter,
  EgressAdapter,
  SandboxAdapter,
  TracingAdapter
} from "@weft/core/adapter"
import type { AlertNotification } from "./alerts.ts"
import type { HostFunctions } from "./hostFunction.ts"
import type { Org } from "./records.ts"
import type { TenantHandle } from "./Weft.ts"

export interface WeftOptions {
  /**
   * The folder of the embedded defaults: `weft.db` (SQLite), `blobs/` and `master.key`, created if they are missing.
   * Required unless `database`, `blobs` and `masterKeys` are all given.
   */
  readonly dataDir?: string
  /** All record stores; SQLite in `dataDir` by default. */
  readonly database?: DatabaseAdapter
  /** The bytes of files and builds; a folder in `dataDir` by default. */
  readonly blobs?: BlobsAdapter
  /** The isolation of tenants' code; V8 isolates in child processes by default. */
  readonly sandbox?: SandboxAdapter
  /** Messages between nodes; within this process by default. */
  readonly cluster?: ClusterAdapter
  /** Outbound requests of tenants' code; the public internet by default. Null: no requests. */
  readonly egress?: EgressAdapter | null
  /** Traces; none by default. */
  readonly tracing?: TracingAdapter
  /**
   * Keys that encrypt secrets, 32 bytes each, as bytes or as Base64 text: the current key, then former keys that are
   * still needed. By default one key in `dataDir`. Keep a copy apart from the data: without the keys its secrets are lost.
   */
  readonly masterKeys?: readonly [MasterKey, ...ReadonlyArray<MasterKey>]
  /**
   * Ids of master keys that are lost for good. Without them, the start fails if stored secrets need a key that is not in
   * `masterKeys`. The error names the id.
   */
  readonly lostMasterKeys?: ReadonlyArray<string>
  /** True to start with an empty database next to existing blobs, which remain unused; by default the start then fails. */
  readonly newInstallation?: boolean
  /** The address at which clients reach this host, without a slash at its end. Without it no links are made. */
  readonly publicUrl?: string | (() => string | null)
  /** Functions that tenants' code may call, by name: `svc.host.crm.lookup(…)` calls `"crm.lookup"`. */
  readonly host?: HostFunctions
  readonly provisioning?: ProvisioningOptions
  /**
   * Called for alert rules with the action `hook`, for example to send mail. Has 10 s. Called again after 1 min or later if it
   * rejects, so it may be repeated with the same `id`.
   */
  readonly onAlert?: (alert: AlertNotification) => unknown
  /** Limits that replace those of a plan, by its name. */
  readonly plans?: { readonly [Name in PlanName]?: Partial<PlanLimits> }
  readonly limits?: LimitOptions
  readonly http?: HttpOptions
  /** Tenants' own host names; by default they can be registered but not validated. */
  readonly domains?: DomainsConfig
}

export type MasterKey = string | Uint8Array

export type PlanName = "Free" | "Starter" | "Pro" | "Scale" | "Enterprise" | "Self-Host"

/** Limits of one organization, summed over its environments. -1 is unlimited. */
export type PlanLimits = { readonly [Name in keyof Plan as CamelCase<Name>]: Plan[Name] }

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name

/** Limits of this node. Each is given once and holds in every part that it concerns. */
export interface LimitOptions {
  /** Maximum zip of a build, in bytes; 50 MiB by default. */
  readonly archiveBytes?: number
  /** Maximum JSON body and webhook body, in bytes; 4 MiB by default. */
  readonly bodyBytes?: number
  /** Deliveries in flight, in total and per environment; 4,096 and 1,024 by default. */
  readonly deliveries?: { readonly total: number; readonly perEnv: number }
  /** Time after which other nodes declare this one dead, in milliseconds; 30,000 by default. */
  readonly leaseMs?: number
  /** Maximum age of ended runs, in milliseconds, whatever their plan allows. */
  readonly retentionMs?: number
  /** Maximum bytes per second that are read to verify stored files and builds; 1 MiB by default, 0 for none. */
  readonly scrubBytesPerSecond?: number
}

/** Options of all HTTP mounts. */
export interface HttpOptions {
  /**
   * The bearer token of the routes below `/admin`; without it they do not exist. 16 to 512 visible ASCII characters
   * without spaces.
   */
  readonly adminToken?: string
  /** The bearer token of `/metrics`, `/healthz` and `/readyz`, in the same format; without it they are public. */
  readonly metricsToken?: string
  /** Reported by `GET /v1/status`; "0.0.0" by default. */
  readonly version?: string
  /** True if every request passes a proxy that sets `X-Forwarded-Host` and `X-Forwarded-For`; false by default. */
  readonly trustProxy?: boolean
  /** Options of the MCP routes. */
  readonly mcp?: McpOptions
  /** True serves the console at `/console`, the page for people; false by default. */
  readonly console?: boolean
  /** Origins whose pages may show the console in a frame, such as `https://app.example.com`; none by default. */
  readonly consoleEmbeddedIn?: ReadonlyArray<string>
}

/** Options of the MCP routes. */
export interface McpOptions {
  /** Origins of web pages that may send messages, such as `https://app.example.com`, besides that of `publicUrl`. */
  readonly origins?: ReadonlyArray<string>
  /** Issuer URLs of OAuth authorization servers that issue credentials of Weft, at most 16. */
  readonly authorizationServers?: ReadonlyArray<string>
  /**
   * True to offer the tool `run_code`, which runs code that uses the other tools, to callers with `eval: execute`; false by
   * default.
   */
  readonly runCode?: boolean
}

/** Creation of tenants. By default only the host creates them. */
export interface ProvisioningOptions {
  /**
   * Decides whether to create an environment that a webhook names and that does not exist, with its organization. Null:
   * the webhook is answered with 404. Has 5 s; if it rejects, the webhook is answered with 500.
   */
  readonly admit?: (request: {
    readonly org: string
    readonly env: string
  }) => NewTenantTerms | null | Promise<NewTenantTerms | null>
  /** Called after an organization was created. Called again later, at the earliest after 1 min, if it rejects. */
  readonly onOrgCreated?: (org: Org) => unknown
  /** Called after an environment was created, with the same retries. */
  readonly onEnvCreated?: (tenant: TenantHandle) => unknown
}

export interface NewTenantTerms {
  /** The name of a new organization; its slug by default. */
  readonly name?: string
  /** The plan of a new organization; `Self-Host` by default. */
  readonly plan?: string
}
