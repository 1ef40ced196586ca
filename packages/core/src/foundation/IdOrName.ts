/** Path segments that accept an id or a name. */
import { isUuid } from "./Ids.ts"

/** Converts UUIDs to lower case, the only form that stores contain. Returns names unchanged. */
export const toIdOrName = (text: string): string => (isUuid(text) ? text.toLowerCase() : text)
