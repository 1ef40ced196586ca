/**
 * `svc.host`: the functions of the host, for example `svc.host.crm.lookup(input)`.
 *
 * Only the host knows which functions exist, and decides it per call. In the isolate every name is callable, except the
 * names that the language itself reads from objects and functions.
 */
import { namedError } from "./failures.ts"
import { create, freeze, getProperty, has, NativeProxy, parse, stringify } from "./primordials.ts"
import type { Run } from "./Run.ts"

/** Maximum length of the name of a host function. */
const nameLengthMax = 128

export const makeHostProxy = (run: Run, name = ""): object => {
  const callHost = async (input: unknown): Promise<unknown> => {
    if (name === "" || name.length > nameLengthMax) throw namedError("NotFound", "There is no such host function")
    const answer = await run.call(`host.${name}`, stringify(input) ?? "")
    return answer === "" ? undefined : parse(answer)
  }
  // Only the first argument, so that the function may be passed to `map`.
  const target = freeze((input: unknown) => callHost(input))
  // Without a prototype, through which user code could add traps.
  const traps: ProxyHandler<typeof target> = create(null)
  traps.get = (_, segment) =>
    typeof segment !== "string" || segment === "then" || segment === "toJSON" || has(target, segment)
      ? getProperty(target, segment)
      : makeHostProxy(run, name === "" ? segment : `${name}.${segment}`)
  return new NativeProxy(target, traps)
}
