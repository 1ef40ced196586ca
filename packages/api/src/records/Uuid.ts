/** UUIDs that clients send: of any version, or of none. */
import { isUuidShaped } from "@weft/core"
import { Schema } from "effect"

export const SentUuid = Schema.String.check(isUuidShaped({ message: "must be a UUID" }))
