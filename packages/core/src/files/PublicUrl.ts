/** The address under which clients reach this host, as links name it. */
import { Context } from "effect"

/** Without a slash at its end; null where the host has not said it. Asked each time: it may be known only later. */
export const PublicUrl = Context.Reference<() => string | null>("@weft/core/files/PublicUrl", {
  defaultValue: () => () => null
})
