/**
 * Who is asking, and what they may do.
 *
 * The HTTP layer turns a credential into a `Caller`; an embedding program acts as the host. Everything
 * behind it is the same, so a permission is checked in exactly one place: the service that needs it.
 */
import { Context, type Schema } from "effect"
import type { EnvId } from "../ids/Ids.ts"
import type { PermissionMap } from "./Permission.ts"

export interface Identity {
  readonly env_id: EnvId
  /** `host`: the embedding program itself, which holds every permission. */
  readonly type: "api-key" | "service-key" | "session" | "host"
  /** The id of the credential, for audit logs; never the secret. Null for the host. */
  readonly id: string | null
  readonly permissions: PermissionMap
  readonly metadata: Schema.Json
}

export class Caller extends Context.Service<Caller, Identity>()("@weft/core/access/Caller") {}
