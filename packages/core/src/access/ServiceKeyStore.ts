/** Where service keys live. Revoked and expired ones stay, until their API key is removed. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../errors/Errors.ts"
import type { ApiKeyId, ServiceKeyId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { Timestamp } from "../ids/Timestamp.ts"
import type { ServiceKey } from "./ServiceKey.ts"

export class ServiceKeyStore extends Context.Service<
  ServiceKeyStore,
  {
    readonly insert: (key: ServiceKey) => Effect.Effect<void, StoreUnavailable>
    /** Reads one key of whatever environment: the look-up behind authentication. */
    readonly find: (id: ServiceKeyId) => Effect.Effect<ServiceKey, NotFound | StoreUnavailable>
    /** Of one API key, newest first. */
    readonly list: (apiKeyId: ApiKeyId, page: PageRequest) => Effect.Effect<Page<ServiceKey>, StoreUnavailable>
    readonly get: (apiKeyId: ApiKeyId, id: ServiceKeyId) => Effect.Effect<ServiceKey, NotFound | StoreUnavailable>
    /** Sets `revoked_at`. `NotFound` when the API key has no such key, or it is revoked already. */
    readonly revoke: (
      apiKeyId: ApiKeyId,
      id: ServiceKeyId,
      at: Timestamp
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** Revokes all of an API key that are neither revoked nor expired at `at`; their ids. */
    readonly revokeAll: (
      apiKeyId: ApiKeyId,
      at: Timestamp
    ) => Effect.Effect<ReadonlyArray<ServiceKeyId>, StoreUnavailable>
  }
>()("@weft/core/access/ServiceKeyStore") {}
