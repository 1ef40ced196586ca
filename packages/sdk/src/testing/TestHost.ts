/** `svc.host` of a run in a test, with fakes from the test. */
import type { HostFace, HostFunctions } from "../Host.ts"
import { namedError } from "./failures.ts"
import type { RunBook } from "./Records.ts"

/** A fake of any type. */
export type Fake = (input: unknown) => unknown

/** Fakes by function name. */
export type Fakes = ReadonlyMap<string, Fake>

export const toFakes = (host: object): Fakes =>
  new Map(Object.entries(host).map(([name, fake]) => [name, (input) => fake(input)]))

/** Creates `svc.host`. As in the runtime, every name is a function, except the names that the language itself reads. */
export function testHost(fakes: Fakes, recorder: RunBook, check: () => void): HostFace<HostFunctions>
export function testHost(fakes: Fakes, recorder: RunBook, check: () => void, name?: string): object
export function testHost(fakes: Fakes, recorder: RunBook, check: () => void, name = ""): object {
  const ask = async (given: unknown): Promise<unknown> => {
    const input = asJson(given)
    check()
    recorder.hostCalls.push({ name, input })
    const fake = fakes.get(name)
    if (fake === undefined) throw namedError("NotFound", `There is no host function ${name}: set testEnv({ host })`)
    return asJson(await fake(input))
  }
  return new Proxy((input: unknown) => ask(input), {
    get: (target, segment) =>
      typeof segment === "symbol" || segment === "then" || segment === "toJSON" || segment in target
        ? Reflect.get(target, segment)
        : testHost(fakes, recorder, check, name === "" ? segment : `${name}.${segment}`)
  })
}

const asJson = (value: unknown): unknown => {
  const text = JSON.stringify(value)
  return text === undefined ? undefined : JSON.parse(text)
}
