/**
 * `svc.host`: the functions of the host, `svc.host.crm.lookup(input)`.
 *
 * Which functions there are is the host's to say, for each call: the isolate knows no names, so every name leads to
 * something that can be called, except those that the language itself asks objects and functions for.
 */
import { namedError } from "./failures.ts"
import { create, freeze, getProperty, has, NativeProxy, parse, stringify } from "./primordials.ts"
import type { Run } from "./Run.ts"

/** No host function has a longer name. */
const nameLengthMax = 128

export const hostOf = (run: Run, name = ""): object => {
  const ask = async (input: unknown): Promise<unknown> => {
    if (name === "" || name.length > nameLengthMax) throw namedError("NotFound", "There is no such host function")
    const answer = await run.call(`host.${name}`, stringify(input) ?? "")
    return answer === "" ? undefined : parse(answer)
  }
  // Only the first argument: such a function may be handed to `map`.
  const target = freeze((input: unknown) => ask(input))
  // Without a prototype, by way of which user code could add traps.
  const traps: ProxyHandler<typeof target> = create(null)
  traps.get = (_, segment) =>
    typeof segment !== "string" || segment === "then" || segment === "toJSON" || has(target, segment)
      ? getProperty(target, segment)
      : hostOf(run, name === "" ? segment : `${name}.${segment}`)
  return new NativeProxy(target, traps)
}
