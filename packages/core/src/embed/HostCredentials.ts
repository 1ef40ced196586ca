/**
 * Credentials for the browsers and programs of a host's customers: sessions and service keys, each under an API key.
 *
 * The host acts as that API key, without its token. A new credential can therefore never have more permissions than the
 * key.
 */
import type { Effect, Redacted, Schema } from "effect"
import { fromJsonText } from "../foundation/JsonText.ts"
import { firstPage, type Page, type PageRequest } from "../foundation/Page.ts"
import type { Caller } from "../tenants/access/Caller.ts"
import { type NewServiceKey, ServiceKeys, type ShownServiceKey } from "../tenants/access/ServiceKeys.ts"
import { type NewSession, Sessions, type ShownSession } from "../tenants/access/Sessions.ts"
import { mapPage } from "./HostRecords.ts"

/** A session with its metadata as a JSON value. */
export type HostSession = Omit<ShownSession, "metadata"> & { readonly metadata: Schema.Json }

/** A service key with its metadata as a JSON value. */
export type HostServiceKey = Omit<ShownServiceKey, "metadata"> & { readonly metadata: Schema.Json }

/** All methods reject with `Unauthorized` if the API key is disabled, and with `NotFound` if it does not exist. */
export interface HostSessions {
  /** Returns the token, which cannot be read again. */
  readonly create: (
    apiKeyId: string,
    input: NewSession
  ) => Promise<{ readonly session: HostSession; readonly token: Redacted.Redacted<string> }>
  /** Lists active sessions, newest first. */
  readonly list: (apiKeyId: string, page?: PageRequest) => Promise<Page<HostSession>>
  readonly revoke: (apiKeyId: string, sessionId: string) => Promise<void>
  /** Returns the number of revoked credentials. */
  readonly revokeAll: (apiKeyId: string) => Promise<number>
}

/** All methods reject like those of `HostSessions`. */
export interface HostServiceKeys {
  /** Returns the token, which cannot be read again. */
  readonly create: (
    apiKeyId: string,
    input: NewServiceKey
  ) => Promise<{ readonly key: HostServiceKey; readonly token: Redacted.Redacted<string> }>
  /** Lists service keys, newest first, including revoked and expired ones. */
  readonly list: (apiKeyId: string, page?: PageRequest) => Promise<Page<HostServiceKey>>
  readonly get: (apiKeyId: string, serviceKeyId: string) => Promise<HostServiceKey>
  readonly revoke: (apiKeyId: string, serviceKeyId: string) => Promise<void>
  /** Returns the number of revoked credentials. */
  readonly revokeAll: (apiKeyId: string) => Promise<number>
}

/** Runs an effect as an API key of the environment. */
type RunAs = <A, E>(apiKeyId: string, effect: Effect.Effect<A, E, Sessions | ServiceKeys | Caller>) => Promise<A>

export const hostSessions = (runAs: RunAs): HostSessions => ({
  create: async (apiKeyId, input) => {
    const { session, token } = await runAs(
      apiKeyId,
      Sessions.use((sessions) => sessions.create(input))
    )
    return { session: withParsedMetadata(session), token }
  },
  list: (apiKeyId, page = firstPage) =>
    runAs(
      apiKeyId,
      Sessions.use((sessions) => sessions.list(page))
    ).then(mapPage(withParsedMetadata)),
  revoke: (apiKeyId, sessionId) =>
    runAs(
      apiKeyId,
      Sessions.use((sessions) => sessions.revoke(sessionId))
    ),
  revokeAll: (apiKeyId) =>
    runAs(
      apiKeyId,
      Sessions.use((sessions) => sessions.revokeAll)
    )
})

export const hostServiceKeys = (runAs: RunAs): HostServiceKeys => ({
  create: async (apiKeyId, input) => {
    const { key, token } = await runAs(
      apiKeyId,
      ServiceKeys.use((keys) => keys.create(input))
    )
    return { key: withParsedMetadata(key), token }
  },
  list: (apiKeyId, page = firstPage) =>
    runAs(
      apiKeyId,
      ServiceKeys.use((keys) => keys.list(page))
    ).then(mapPage(withParsedMetadata)),
  get: (apiKeyId, serviceKeyId) =>
    runAs(
      apiKeyId,
      ServiceKeys.use((keys) => keys.get(serviceKeyId))
    ).then(withParsedMetadata),
  revoke: (apiKeyId, serviceKeyId) =>
    runAs(
      apiKeyId,
      ServiceKeys.use((keys) => keys.revoke(serviceKeyId))
    ),
  revokeAll: (apiKeyId) =>
    runAs(
      apiKeyId,
      ServiceKeys.use((keys) => keys.revokeAll)
    )
})

const withParsedMetadata = <R extends Pick<ShownSession, "metadata">>(
  record: R
): Omit<R, "metadata"> & { readonly metadata: Schema.Json } => ({
  ...record,
  metadata: fromJsonText(record.metadata)
})
