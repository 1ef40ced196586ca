/** Storage of API keys. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../../foundation/Errors.ts"
import type { ApiKeyId, EnvId } from "../../foundation/Ids.ts"
import type { Page, PageRequest } from "../../foundation/Page.ts"
import type { ApiKey } from "./ApiKey.ts"

export class ApiKeyStore extends Context.Service<
  ApiKeyStore,
  {
    /** Stores a key. If the id exists, keeps the existing key. */
    readonly insert: (key: ApiKey) => Effect.Effect<void, StoreUnavailable>
    /** Reads a key of any environment, for authentication. */
    readonly find: (id: ApiKeyId) => Effect.Effect<ApiKey, NotFound | StoreUnavailable>
    /** Newest first. */
    readonly list: (envId: EnvId, page: PageRequest) => Effect.Effect<Page<ApiKey>, StoreUnavailable>
    /** Replaces `name`, `enabled`, `permissions` and `updated_at` of the stored key, and no other field. */
    readonly update: (key: ApiKey) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** Removes the key with all sessions and service keys that it created. */
    readonly remove: (envId: EnvId, id: ApiKeyId) => Effect.Effect<void, NotFound | StoreUnavailable>
  }
>()("@weft/core/tenants/access/ApiKeyStore") {}
