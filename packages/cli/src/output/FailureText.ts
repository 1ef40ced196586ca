/** Failures for people. */
import type { Failure } from "../Failure.ts"
import type { Paint } from "./Paint.ts"

/** What happened, its details a little to the right, and what to do. */
export const failureLines = ({ message, remedy, details }: Failure, paint: Paint): ReadonlyArray<string> => [
  `${paint.red("error")} ${message}`,
  ...details.map((line) => `  ${line}`),
  ...(remedy === null ? [] : [`${paint.dim("hint")}  ${remedy}`])
]
