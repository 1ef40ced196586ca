/** Time ranges in the format of the API. */
import { Option } from "effect"
import { parseDuration } from "./Duration.ts"

/** Converts `30m`, `24h` or `7d` into an ISO 8601 duration. Text that starts with `P` remains as it is. */
export const parsePeriod = (text: string): Option.Option<string> =>
  text.startsWith("P") ? Option.some(text) : Option.map(parseDuration(text), (seconds) => `PT${seconds}S`)
