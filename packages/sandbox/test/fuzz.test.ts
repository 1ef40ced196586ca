/** What builds and runners bring to the host's process. */
import { fuzzed } from "@weft/tooling/fuzz"
import { afterAll, beforeAll } from "vitest"
import { archives } from "./fuzz/Archives.ts"
import { frames, hostileRunner } from "./fuzz/Frames.ts"
import { type Supervised, supervised } from "./fuzz/Supervised.ts"

let opened: Supervised | undefined

const world = (): Supervised => {
  if (opened === undefined) throw new Error("The supervisor is there from the first test on")
  return opened
}

beforeAll(() => {
  opened = supervised()
})
afterAll(() => opened?.close())

fuzzed(archives, 400)
fuzzed(frames, 1500)
fuzzed(hostileRunner(world), 30)
