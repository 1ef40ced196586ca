/** JSON as safe terminal text. */
import { printable } from "./Printable.ts"

/** Formats a value over several lines. */
export const prettyJson = (value: unknown): string => printable(JSON.stringify(value ?? null, null, 2))

/** Formats a value on one line. */
export const plainJson = (value: unknown): string => printable(JSON.stringify(value ?? null))
