/** Loaded before a server: its clock is off by what the file of `WEFT_CLOCK_FILE` says, in milliseconds. */
import { readFileSync } from "node:fs"

const file = process.env.WEFT_CLOCK_FILE ?? ""
const RealDate = Date
let offMs = 0

const look = (): void => {
  const read = Number(readFileSync(file, "utf8"))
  // Empty while it is written.
  if (Number.isFinite(read)) offMs = read
}

const nowMs = (): number => RealDate.now() + offMs

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [nowMs()] : args, newTarget),
  get: (target, property) => (property === "now" ? nowMs : Reflect.get(target, property))
})

look()
setInterval(look, 20).unref()
