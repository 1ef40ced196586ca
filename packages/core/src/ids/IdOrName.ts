/** Path segments that take an id or a name. */
import { isUuid } from "./Ids.ts"

/** Ids in the one spelling that stores know: UUIDs count as equal whatever their case. Names stay as they are. */
export const toIdOrName = (text: string): string => (isUuid(text) ? text.toLowerCase() : text)
