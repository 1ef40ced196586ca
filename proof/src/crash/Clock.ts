/** Preloaded by a server: shifts its clock by the milliseconds in the file that `WEFT_CLOCK_FILE` names. */
import { readFileSync } from "node:fs"

const file = process.env.WEFT_CLOCK_FILE ?? ""
const RealDate = Date
let offsetMs = 0

const readOffset = (): void => {
  const value = Number(readFileSync(file, "utf8"))
  // The file is empty while it is being written.
  if (Number.isFinite(value)) offsetMs = value
}

const nowMs = (): number => RealDate.now() + offsetMs

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [nowMs()] : args, newTarget),
  get: (target, property) => (property === "now" ? nowMs : Reflect.get(target, property))
})

readOffset()
setInterval(readOffset, 20).unref()
