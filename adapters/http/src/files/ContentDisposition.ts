/** `Content-Disposition` of downloads (RFC 6266). Always an attachment, regardless of the content type. */

/** Quotes the name as ASCII, and adds a percent-encoded UTF-8 name if it is not ASCII. */
export const attachment = (fileName: string): string => {
  const ascii = fileName.replace(/[^\u0020-\u007e]|["\\%]/gu, "_")
  return ascii === fileName
    ? `attachment; filename="${ascii}"`
    : `attachment; filename="${ascii}"; filename*=UTF-8''${extValue(fileName)}`
}

/** Encodes an `ext-value` of RFC 8187, which escapes more characters than `encodeURIComponent`. */
const extValue = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
