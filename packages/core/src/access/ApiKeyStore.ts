/** Where API keys live. */
import { Context, type Effect } from "effect"
import type { NotFound, StoreUnavailable } from "../errors/Errors.ts"
import type { ApiKeyId, EnvId } from "../ids/Ids.ts"
import type { Page, PageRequest } from "../ids/Page.ts"
import type { ApiKey } from "./ApiKey.ts"

export class ApiKeyStore extends Context.Service<
  ApiKeyStore,
  {
    /** Storing an id twice keeps the first key. */
    readonly insert: (key: ApiKey) => Effect.Effect<void, StoreUnavailable>
    /** Reads one key of whatever environment: the look-up behind authentication. */
    readonly find: (id: ApiKeyId) => Effect.Effect<ApiKey, NotFound | StoreUnavailable>
    /** Newest first. */
    readonly list: (envId: EnvId, page: PageRequest) => Effect.Effect<Page<ApiKey>, StoreUnavailable>
    /** Replaces `name`, `enabled`, `permissions` and `updated_at` of the stored key; the rest stays. */
    readonly update: (key: ApiKey) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** Removes the key with all sessions and service keys that it handed out. */
    readonly remove: (envId: EnvId, id: ApiKeyId) => Effect.Effect<void, NotFound | StoreUnavailable>
  }
>()("@weft/core/access/ApiKeyStore") {}
