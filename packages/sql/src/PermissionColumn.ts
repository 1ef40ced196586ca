/** Permission maps as they are stored: JSON text. */
import { PermissionMap } from "@weft/core"
import { Schema } from "effect"

/** Only maps that were checked are stored, so that another text is a defect. */
export const decodePermissions: (text: string) => PermissionMap = Schema.decodeSync(
  Schema.fromJsonString(PermissionMap)
)
