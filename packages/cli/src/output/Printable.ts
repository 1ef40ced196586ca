/** Makes untrusted text safe for terminals: logs of functions may contain escape sequences. */

/** Replaces control characters, except tab and line feed, by visible characters. */
export const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression must match them
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (character) =>
    character < " " ? String.fromCharCode(character.charCodeAt(0) + 0x2400) : "\ufffd"
  )
