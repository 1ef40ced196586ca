/** JSON for people. */
import { printable } from "./Printable.ts"

/** Over several lines. */
export const prettyJson = (value: unknown): string => printable(JSON.stringify(value ?? null, null, 2))

/** On one line. */
export const plainJson = (value: unknown): string => printable(JSON.stringify(value ?? null))
