/** How long, as people write it. */
import { Option } from "effect"

const seconds = { s: 1, m: 60, h: 3600, d: 86_400 } as const
const isUnit = (text: string): text is keyof typeof seconds => Object.hasOwn(seconds, text)

/** Seconds of `90s`, `15m`, `12h` or `30d`, or of a number of seconds; none of anything else, and of none at all. */
export const lifetimeOf = (text: string): Option.Option<number> => {
  const [, count = "", unit = ""] = /^(\d+)([smhd]?)$/.exec(text) ?? []
  if (!(Number(count) >= 1)) return Option.none()
  return Option.some(Number(count) * (isUnit(unit) ? seconds[unit] : 1))
}
