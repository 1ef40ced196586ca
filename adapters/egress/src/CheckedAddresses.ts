/** Connections of Node that reach only addresses that were checked. */
import type { LookupFunction, Socket } from "node:net"
import { parseIp, unmapIpv4 } from "@weft/core/adapter"

const attemptsMax = 8

/** Replaces the lookup at connect time, so that a name server cannot return other addresses by then. */
export const knownAddresses = (addresses: ReadonlyArray<string>): LookupFunction => {
  const known = addresses.slice(0, attemptsMax).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))
  return (_host, options, callback) => {
    const [first] = known
    if (options.all === true) callback(null, known)
    else callback(null, first?.address ?? "", first?.family ?? 4)
  }
}

/** True if the socket is connected to one of the addresses. */
export const isChecked = (socket: Socket, addresses: ReadonlyArray<string>): boolean => {
  const actual = addressValue(socket.remoteAddress ?? "")
  return actual !== undefined && addresses.some((address) => addressValue(address) === actual)
}

/** Returns the numeric value of an address, which is the same for all its forms. */
const addressValue = (text: string): bigint | undefined => {
  const address = parseIp(text)
  return address === null ? undefined : unmapIpv4(address).value
}
