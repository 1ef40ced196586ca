/** Text for failures. */
import type { Failure } from "../Failure.ts"
import type { Paint } from "./Paint.ts"

/** Returns the message, the indented details, and the remedy. */
export const failureLines = ({ message, remedy, details }: Failure, paint: Paint): ReadonlyArray<string> => [
  `${paint.red("error")} ${message}`,
  ...details.map((line) => `  ${line}`),
  ...(remedy === null ? [] : [`${paint.dim("hint")}  ${remedy}`])
]
