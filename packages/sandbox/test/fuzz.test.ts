/** Fuzzing of the input that the host process receives from builds and runners. */
import { fuzzed } from "@weft/tooling/fuzz"
import { afterAll, beforeAll } from "vitest"
import { archives } from "./fuzz/Archives.ts"
import { frames, hostileRunner } from "./fuzz/Frames.ts"
import { startSupervisor, type TestSupervisor } from "./fuzz/TestSupervisor.ts"

let opened: TestSupervisor | undefined

const world = (): TestSupervisor => {
  if (opened === undefined) throw new Error("The supervisor starts before the first test")
  return opened
}

beforeAll(() => {
  opened = startSupervisor()
})
afterAll(() => opened?.close())

fuzzed(archives, 400)
fuzzed(frames, 1500)
fuzzed(hostileRunner(world), 30)
