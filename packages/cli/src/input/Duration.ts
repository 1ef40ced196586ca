/** Durations in command-line notation. */
import { Option } from "effect"

const seconds = { s: 1, m: 60, h: 3600, d: 86_400 } as const
const isUnit = (text: string): text is keyof typeof seconds => Object.hasOwn(seconds, text)

/** Parses `90s`, `15m`, `12h`, `30d` or a number of seconds. Returns seconds, or none for other input and for zero. */
export const parseDuration = (text: string): Option.Option<number> => {
  const [, count = "", unit = ""] = /^(\d+)([smhd]?)$/.exec(text) ?? []
  if (!(Number(count) >= 1)) return Option.none()
  return Option.some(Number(count) * (isUnit(unit) ? seconds[unit] : 1))
}
