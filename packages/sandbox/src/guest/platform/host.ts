/** Stores the kernel's bridge for the modules that need it. */
import type { Bridge } from "../Bridge.ts"

let bridge: Bridge | undefined

export const connect = (given: Bridge): void => {
  bridge = given
}

export const host = (): Bridge => {
  if (bridge === undefined) {
    throw new Error("The platform is not installed")
  }
  return bridge
}
