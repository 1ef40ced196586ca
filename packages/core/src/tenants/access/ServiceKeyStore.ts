/** Storage of service keys. Revoked and expired keys remain until their API key is removed. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { ApiKeyId, ServiceKeyId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { Timestamp } from "../../foundation/time/Timestamp.ts"
import type { ServiceKey } from "./ServiceKey.ts"

export class ServiceKeyStore extends Context.Service<
  ServiceKeyStore,
  {
    readonly insert: (key: ServiceKey) => Effect.Effect<void, StoreUnavailable>
    /** Reads a key of any environment, for authentication. */
    readonly find: (id: ServiceKeyId) => Effect.Effect<ServiceKey, NotFound | StoreUnavailable>
    /** Returns the service keys of an API key, newest first. */
    readonly list: (apiKeyId: ApiKeyId, page: PageRequest) => Effect.Effect<Page<ServiceKey>, StoreUnavailable>
    readonly get: (apiKeyId: ApiKeyId, id: ServiceKeyId) => Effect.Effect<ServiceKey, NotFound | StoreUnavailable>
    /** Sets `revoked_at`. `NotFound` if the API key has no such service key, or if it is already revoked. */
    readonly revoke: (
      apiKeyId: ApiKeyId,
      id: ServiceKeyId,
      at: Timestamp
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** Revokes all service keys of an API key that are active at `at`, and returns their ids. */
    readonly revokeAll: (
      apiKeyId: ApiKeyId,
      at: Timestamp
    ) => Effect.Effect<ReadonlyArray<ServiceKeyId>, StoreUnavailable>
  }
>()("@weft/core/tenants/access/ServiceKeyStore") {}
