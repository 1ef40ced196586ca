/** How far back to look, as the API takes it. */
import { Option } from "effect"
import { lifetimeOf } from "./Lifetime.ts"

/** An ISO 8601 duration, of one or of `30m`, `24h` or `7d`. */
export const periodOf = (text: string): Option.Option<string> =>
  text.startsWith("P") ? Option.some(text) : Option.map(lifetimeOf(text), (seconds) => `PT${seconds}S`)
