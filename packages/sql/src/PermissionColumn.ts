/** Permission maps, stored as JSON text. */
import { PermissionMap } from "@weft/core/adapter"
import { Schema } from "effect"

/** Only valid maps are stored, so any other text is a defect. */
export const decodePermissions: (text: string) => PermissionMap = Schema.decodeSync(
  Schema.fromJsonString(PermissionMap)
)
