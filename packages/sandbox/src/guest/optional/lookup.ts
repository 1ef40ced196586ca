/** DNS lookups for `node:dns`: host calls, within the policy of `fetch`. */
const { host } = platform.host()

/** Returns the addresses of a name in both families; none if it has no address. Fails with the host's error. */
export const lookup = async (name: unknown): Promise<ReadonlyArray<string>> => {
  const call = host().caller()
  if (call === undefined) {
    throw new TypeError("lookup failed: no run is in progress")
  }
  return JSON.parse(await call("dns.lookup", JSON.stringify({ host: `${name}` })))
}
