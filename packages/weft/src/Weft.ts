/** A running Weft as a host uses it. Every promise rejects with a `WeftError`. */
import type { ExpressMount, FastifyMount, FetchMount, Listening, NodeMount } from "@weft/http"
import type { AuditQuery, EnvHandle } from "./Env.ts"
import type { ApiKey, AuditEntry, Env, Org, Page, PageOptions, Permissions } from "./records.ts"

/** Names an organization and one of its environments. */
export interface TenantName {
  /** The slug of the organization: 1 to 63 lowercase letters, digits and hyphens. */
  readonly org: string
  /** The name of the environment, of the same form; `production` by default. */
  readonly env?: string
  /** The name of a new organization; its slug by default. An existing organization keeps its name. */
  readonly name?: string
  /** The plan of a new organization; `Self-Host` by default. An existing organization keeps its plan. */
  readonly plan?: string
}

/** One environment with its records, as they were when this was returned. */
export interface TenantHandle extends EnvHandle {
  readonly org: Org
  readonly env: Env
}

export interface ListenOptions {
  /** 127.0.0.1 by default. */
  readonly host?: string
  /** 8787 by default; 0 selects a free port. */
  readonly port?: number
  /** A second port on which custom domains are served with their certificates; none by default. */
  readonly tls?: { readonly port: number }
  /** Maximum connections per port; 10,000 by default. Further ones are closed. */
  readonly connections?: number
  /** Maximum connections from one address; no limit by default, because all connections of a proxy share its address. */
  readonly connectionsPerAddress?: number
}

export interface Weft {
  readonly orgs: {
    readonly create: (input: { readonly slug: string; readonly name?: string; readonly plan?: string }) => Promise<Org>
    /** Newest first. */
    readonly list: (page?: PageOptions) => Promise<Page<Org>>
    readonly get: (idOrSlug: string) => Promise<Org>
    readonly update: (
      idOrSlug: string,
      change: { readonly name?: string; readonly plan?: string; readonly members?: number }
    ) => Promise<Org>
  }
  readonly envs: {
    readonly create: (orgIdOrSlug: string, input: { readonly name: string }) => Promise<Env>
    readonly list: (orgIdOrSlug: string, page?: PageOptions) => Promise<Page<Env>>
    readonly get: (envId: string) => Promise<Env>
  }
  readonly tenants: {
    /** Returns the environment with its organization, and creates both if they are missing. Safe to repeat. */
    readonly ensure: (tenant: string | TenantName) => Promise<TenantHandle>
  }
  readonly apiKeys: {
    /** The token is returned only here. Without `permissions` the key has full access. */
    readonly create: (
      envId: string,
      input: { readonly name?: string; readonly permissions?: Permissions }
    ) => Promise<{ readonly key: ApiKey; readonly token: string }>
    readonly list: (envId: string, page?: PageOptions) => Promise<Page<ApiKey>>
    readonly update: (
      envId: string,
      apiKeyId: string,
      change: { readonly name?: string; readonly permissions?: Permissions; readonly enabled?: boolean }
    ) => Promise<ApiKey>
    readonly remove: (envId: string, apiKeyId: string) => Promise<void>
  }
  readonly audit: {
    /** Entries of all environments, newest first. */
    readonly list: (query?: AuditQuery & { readonly envId?: string }, page?: PageOptions) => Promise<Page<AuditEntry>>
  }
  readonly secrets: {
    /** Encrypts every secret of a former master key with the current one. Safe to repeat and to interrupt. */
    readonly rotateKeys: () => Promise<{
      /** The id of the current key. */
      readonly keyId: string
      readonly rotated: number
      /** Secrets that no given key opens. At 0, the former keys are no longer needed. */
      readonly unreadable: number
    }>
  }
  /** Returns one environment. The host has all rights in it. */
  readonly env: (envId: string) => EnvHandle

  /** Express or Connect middleware. Use it before body parsers; it passes other requests on. */
  readonly express: (options?: { readonly prefix?: string }) => ExpressMount
  /** Options for Fastify: `Fastify({ ...weft.fastify() })`. Its `serverFactory` answers Weft's routes before Fastify. */
  readonly fastify: (options?: { readonly prefix?: string }) => FastifyMount
  /** A Hono handler for all routes that the application does not have: `app.all("*", weft.hono())`. */
  readonly hono: () => (context: { readonly req: { readonly raw: Request } }) => Promise<Response>
  /** A function from `Request` to `Response`. */
  readonly fetch: () => FetchMount
  /** A request listener of `node:http`. */
  readonly node: () => NodeMount
  /** A server of its own. Resolves when it answers. */
  readonly listen: (options?: ListenOptions) => Promise<Listening>

  /** Stops taking deliveries for good; resolves when the running ones have ended, after at most 30 s. */
  readonly drain: () => Promise<void>
  /** Closes all mounts, lets running deliveries finish for up to 30 s, then ends everything. */
  readonly close: () => Promise<void>
}
