/** `svc.host` of a trusted function: any name may be called, and the host says whether it is there. */

export type TrustedHost = HostCalling & HostNames

/** Calls the host function of the name so far. */
type HostCalling = (input?: unknown) => Promise<unknown>

interface HostNames {
  readonly [segment: string]: TrustedHost
}

/** `svc.host.crm.lookup(input)` asks for `crm.lookup`. */
export const trustedHost = (ask: (name: string, input: unknown) => Promise<unknown>, name = ""): TrustedHost => {
  const calling: HostCalling = (input) => ask(name, input)
  const names: HostNames = {}
  return new Proxy(Object.assign(calling, names), {
    get: (target, segment) =>
      // The language itself asks for these, and for what every function has.
      typeof segment === "symbol" || segment === "then" || segment === "toJSON" || segment in target
        ? Reflect.get(target, segment)
        : trustedHost(ask, name === "" ? segment : `${name}.${segment}`)
  })
}
