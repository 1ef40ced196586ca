/** `Content-Disposition` for a download (RFC 6266): always an attachment, whatever the content. */

/** The name is quoted as ASCII for old clients, and percent-encoded as UTF-8 for all others where it is not ASCII. */
export const attachment = (fileName: string): string => {
  const ascii = fileName.replace(/[^\u0020-\u007e]|["\\%]/gu, "_")
  return ascii === fileName
    ? `attachment; filename="${ascii}"`
    : `attachment; filename="${ascii}"; filename*=UTF-8''${extValue(fileName)}`
}

/** RFC 8187: what `encodeURIComponent` leaves and this grammar does not. */
const extValue = (text: string): string =>
  encodeURIComponent(text).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
