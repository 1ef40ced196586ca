/** Random ids and numbers. */

/** Returns a UUID v4. `crypto.randomUUID` is missing on pages loaded over plain HTTP. */
export const randomUuid = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
  const variant = "89ab".charAt(Number.parseInt(hex.charAt(16), 16) & 3)
  const groups = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`]
  return [...groups, hex.slice(20)].join("-")
}

/** Returns a number from 0, inclusive, to 1, exclusive. */
export const randomFraction = (): number => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32
