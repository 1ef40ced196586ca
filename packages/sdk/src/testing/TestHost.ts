/** `svc.host` of a run in a test: fakes that the test gives. */
import type { HostFace, HostFunctions } from "../Host.ts"
import { namedError } from "./failures.ts"
import type { RunBook } from "./Records.ts"

/** A fake of any type. */
export type Fake = (input: unknown) => unknown

/** By the name of the function. */
export type Fakes = ReadonlyMap<string, Fake>

export const fakesOf = (host: object): Fakes =>
  new Map(Object.entries(host).map(([name, fake]) => [name, (input) => fake(input)]))

/** Any name leads to a function, as in the runtime, except those that the language itself asks for. */
export function testHost(fakes: Fakes, book: RunBook, check: () => void): HostFace<HostFunctions>
export function testHost(fakes: Fakes, book: RunBook, check: () => void, name?: string): object
export function testHost(fakes: Fakes, book: RunBook, check: () => void, name = ""): object {
  const ask = async (given: unknown): Promise<unknown> => {
    const input = asJson(given)
    check()
    book.hostCalls.push({ name, input })
    const fake = fakes.get(name)
    if (fake === undefined) throw namedError("NotFound", `There is no host function ${name}: give testEnv({ host })`)
    return asJson(await fake(input))
  }
  return new Proxy((input: unknown) => ask(input), {
    get: (target, segment) =>
      typeof segment === "symbol" || segment === "then" || segment === "toJSON" || segment in target
        ? Reflect.get(target, segment)
        : testHost(fakes, book, check, name === "" ? segment : `${name}.${segment}`)
  })
}

const asJson = (value: unknown): unknown => {
  const text = JSON.stringify(value)
  return text === undefined ? undefined : JSON.parse(text)
}
