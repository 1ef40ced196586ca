/** Texts of addresses. */

export const isIPv4 = (text: unknown): boolean =>
  /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(String(text))

export const isIPv6 = (text: unknown): boolean => {
  const address = String(text).replace(/%.*$/, "")
  return address.includes(":") && URL.canParse(`http://[${address}]/`)
}

export const isIP = (text: unknown): number => (isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0)
