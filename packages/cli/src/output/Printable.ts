/** Text of strangers on a terminal: what functions log may hold anything, escape sequences included. */

/** Control characters but tab and line feed become visible; a terminal must not be told anything by them. */
export const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to be found
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (character) =>
    character < " " ? String.fromCharCode(character.charCodeAt(0) + 0x2400) : "\ufffd"
  )
