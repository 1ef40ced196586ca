export const toMessage = (text: string) => ({ text, kind: "message" })
