/**
 * What a host hands out to its customers' browsers and programs: sessions and service keys, each under an API key.
 *
 * The host acts as that key, whose token it need not have; so nothing that is handed out can do more than the key.
 */
import type { Effect, Redacted, Schema } from "effect"
import type { Caller } from "./access/Caller.ts"
import { type NewServiceKey, ServiceKeys, type ShownServiceKey } from "./access/ServiceKeys.ts"
import { type NewSession, Sessions, type ShownSession } from "./access/Sessions.ts"
import { mapPage } from "./HostRecords.ts"
import { fromJsonText } from "./ids/JsonText.ts"
import { firstPage, type Page, type PageRequest } from "./ids/Page.ts"

/** A session with its metadata as a value. */
export type HostSession = Omit<ShownSession, "metadata"> & { readonly metadata: Schema.Json }

/** A service key with its metadata as a value. */
export type HostServiceKey = Omit<ShownServiceKey, "metadata"> & { readonly metadata: Schema.Json }

/** All reject with `Unauthorized` where the API key is disabled, with `NotFound` where there is none of this id. */
export interface HostSessions {
  /** The token is shown here and never again. */
  readonly create: (
    apiKeyId: string,
    input: NewSession
  ) => Promise<{ readonly session: HostSession; readonly token: Redacted.Redacted<string> }>
  /** The active ones, newest first. */
  readonly list: (apiKeyId: string, page?: PageRequest) => Promise<Page<HostSession>>
  readonly revoke: (apiKeyId: string, sessionId: string) => Promise<void>
  /** How many were active. */
  readonly revokeAll: (apiKeyId: string) => Promise<number>
}

/** All reject as those of sessions do. */
export interface HostServiceKeys {
  /** The token is shown here and never again. */
  readonly create: (
    apiKeyId: string,
    input: NewServiceKey
  ) => Promise<{ readonly key: HostServiceKey; readonly token: Redacted.Redacted<string> }>
  /** Newest first; revoked and expired ones too. */
  readonly list: (apiKeyId: string, page?: PageRequest) => Promise<Page<HostServiceKey>>
  readonly get: (apiKeyId: string, serviceKeyId: string) => Promise<HostServiceKey>
  readonly revoke: (apiKeyId: string, serviceKeyId: string) => Promise<void>
  /** How many were active. */
  readonly revokeAll: (apiKeyId: string) => Promise<number>
}

/** Runs as an API key of the environment. */
type RunningAs = <A, E>(apiKeyId: string, effect: Effect.Effect<A, E, Sessions | ServiceKeys | Caller>) => Promise<A>

export const hostSessions = (runAs: RunningAs): HostSessions => ({
  create: async (apiKeyId, input) => {
    const { session, token } = await runAs(
      apiKeyId,
      Sessions.use((sessions) => sessions.create(input))
    )
    return { session: shown(session), token }
  },
  list: (apiKeyId, page = firstPage) =>
    runAs(
      apiKeyId,
      Sessions.use((sessions) => sessions.list(page))
    ).then(mapPage(shown)),
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

export const hostServiceKeys = (runAs: RunningAs): HostServiceKeys => ({
  create: async (apiKeyId, input) => {
    const { key, token } = await runAs(
      apiKeyId,
      ServiceKeys.use((keys) => keys.create(input))
    )
    return { key: shown(key), token }
  },
  list: (apiKeyId, page = firstPage) =>
    runAs(
      apiKeyId,
      ServiceKeys.use((keys) => keys.list(page))
    ).then(mapPage(shown)),
  get: (apiKeyId, serviceKeyId) =>
    runAs(
      apiKeyId,
      ServiceKeys.use((keys) => keys.get(serviceKeyId))
    ).then(shown),
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

const shown = <R extends Pick<ShownSession, "metadata">>(
  record: R
): Omit<R, "metadata"> & { readonly metadata: Schema.Json } => ({
  ...record,
  metadata: fromJsonText(record.metadata)
})
