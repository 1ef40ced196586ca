/** Dates, documents, spreadsheets, images. */
import type { Area } from "../Case.ts"

export const documents: Area = {
  name: "dates, documents, images",
  cases: [
    {
      name: "dayjs",
      code: `import dayjs from "dayjs"\nimport utc from "dayjs/plugin/utc.js"\ndayjs.extend(utc)\nexport const main = () => dayjs.utc("2024-02-29").add(1, "year").format("YYYY-MM-DD")`,
      expected: "2025-02-28"
    },
    {
      name: "luxon",
      code: `import { DateTime } from "luxon"\nexport const main = () => DateTime.fromISO("2024-03-10T01:30", { zone: "America/New_York" }).plus({ hours: 1 }).toISO()`,
      expected: "2024-03-10T03:30:00.000-04:00"
    },
    {
      name: "moment-timezone",
      code: `import moment from "moment-timezone"\nexport const main = () => moment.tz("2024-06-01 12:00", "Europe/Oslo").utc().format()`,
      expected: "2024-06-01T10:00:00Z"
    },
    {
      name: "date-fns",
      code: `import { addMonths, format } from "date-fns"\nexport const main = () => format(addMonths(new Date(2024, 0, 31), 1), "yyyy-MM-dd")`,
      expected: "2024-02-29"
    },
    {
      name: "chrono-node",
      code: `import * as chrono from "chrono-node"\nexport const main = () => chrono.parseDate("tomorrow", new Date(Date.UTC(2024, 0, 1, 12))).toISOString().slice(0, 10)`,
      expected: "2024-01-02"
    },
    {
      name: "rrule",
      code: `import { RRule } from "rrule"\nexport const main = () => new RRule({ freq: RRule.DAILY, count: 2, dtstart: new Date(Date.UTC(2024, 0, 1)) }).all().map((each) => each.toISOString().slice(0, 10))`,
      expected: ["2024-01-01", "2024-01-02"]
    },
    {
      name: "cron-parser",
      code: `import { CronExpressionParser } from "cron-parser"\nexport const main = () => CronExpressionParser.parse("0 9 * * 1", { currentDate: "2024-01-02T00:00:00Z", tz: "UTC" }).next().toISOString()`,
      expected: "2024-01-08T09:00:00.000Z"
    },
    {
      name: "ical-generator",
      code: `import ical from "ical-generator"\nexport const main = () => ical({ name: "c" }).toString().includes("BEGIN:VCALENDAR")`,
      expected: true
    },
    {
      name: "pdf-lib",
      code: `import { PDFDocument } from "pdf-lib"
        export const main = async () => {
          const document = await PDFDocument.create()
          document.addPage().drawText("hi")
          return (await PDFDocument.load(await document.save())).getPageCount()
        }`,
      expected: 1
    },
    {
      name: "pdfkit",
      code: `import PDFDocument from "pdfkit"
        import { buffer } from "node:stream/consumers"
        export const main = async () => {
          const document = new PDFDocument()
          document.text("hello")
          document.end()
          return (await buffer(document)).subarray(0, 5).toString()
        }`,
      expected: "%PDF-"
    },
    {
      name: "jspdf",
      code: `import { jsPDF } from "jspdf"
        export const main = () => { const pdf = new jsPDF(); pdf.text("hi", 10, 10); return pdf.output().slice(0, 5) }`,
      expected: "%PDF-"
    },
    {
      name: "xlsx",
      code: `import * as XLSX from "xlsx"
        export const main = () => {
          const book = XLSX.utils.book_new()
          XLSX.utils.book_append_sheet(book, XLSX.utils.json_to_sheet([{ a: 1 }]), "s")
          const bytes = XLSX.write(book, { type: "buffer", bookType: "xlsx" })
          return XLSX.utils.sheet_to_json(XLSX.read(bytes).Sheets.s)
        }`,
      expected: [{ a: 1 }]
    },
    {
      name: "exceljs",
      code: `import ExcelJS from "exceljs"
        export const main = async () => {
          const book = new ExcelJS.Workbook()
          book.addWorksheet("s").addRow([1, "x"])
          const again = new ExcelJS.Workbook()
          await again.xlsx.load(await book.xlsx.writeBuffer())
          return again.getWorksheet("s").getRow(1).values.slice(1)
        }`,
      expected: [1, "x"]
    },
    {
      name: "docx",
      code: `import { Document, Packer, Paragraph } from "docx"
        export const main = async () => (await Packer.toBuffer(new Document({ sections: [{ children: [new Paragraph("hi")] }] }))).subarray(0, 2).toString()`,
      expected: "PK"
    },
    {
      name: "jszip",
      code: `import JSZip from "jszip"
        export const main = async () => {
          const zip = new JSZip().file("a.txt", "hello")
          return (await JSZip.loadAsync(await zip.generateAsync({ type: "nodebuffer", compression: "DEFLATE" }))).file("a.txt").async("string")
        }`,
      expected: "hello"
    },
    {
      name: "adm-zip",
      code: `import Zip from "adm-zip"
        export const main = () => {
          const zip = new Zip()
          zip.addFile("a.txt", Buffer.from("hello ".repeat(100)))
          return new Zip(zip.toBuffer()).readAsText("a.txt").length
        }`,
      expected: 600
    },
    {
      name: "archiver",
      code: `import { ZipArchive } from "archiver"
        import { buffer } from "node:stream/consumers"
        export const main = async () => {
          const archive = new ZipArchive()
          archive.append("hello", { name: "a.txt" })
          void archive.finalize()
          return (await buffer(archive)).subarray(0, 2).toString()
        }`,
      expected: "PK"
    },
    {
      name: "pako",
      code: `import * as pako from "pako"\nexport const main = () => Buffer.from(pako.ungzip(pako.gzip("hello"))).toString()`,
      expected: "hello"
    },
    {
      name: "fflate",
      code: `import { gunzipSync, gzipSync, strFromU8, strToU8 } from "fflate"\nexport const main = () => strFromU8(gunzipSync(gzipSync(strToU8("hello"))))`,
      expected: "hello"
    },
    {
      name: "qrcode",
      code: `import QRCode from "qrcode"\nexport const main = async () => (await QRCode.toDataURL("https://a.example.test")).slice(0, 22)`,
      expected: "data:image/png;base64,"
    },
    {
      name: "pngjs",
      code: `import { PNG } from "pngjs"
        import { PassThrough } from "node:stream"
        import { buffer } from "node:stream/consumers"
        export const main = async () => {
          const bytes = await buffer(new PNG({ width: 2, height: 3 }).pack().pipe(new PassThrough()))
          return new Promise((resolve, reject) => {
            new PNG().parse(bytes, (error, { height }) => (error ? reject(error) : resolve(height)))
          })
        }`,
      expected: 3
    },
    {
      name: "jimp",
      code: `import { Jimp } from "jimp"\nexport const main = async () => (await new Jimp({ width: 4, height: 4, color: 0xff0000ff }).resize({ w: 2 }).getBuffer("image/png")).subarray(1, 4).toString()`,
      expected: "PNG"
    },
    {
      name: "image-size",
      code: `import { imageSize } from "image-size"\nexport const main = () => imageSize(Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64")).width`,
      expected: 1
    },
    {
      name: "file-type",
      code: `import { fileTypeFromBuffer } from "file-type"\nexport const main = async () => (await fileTypeFromBuffer(Buffer.from("%PDF-1.7"))).mime`,
      expected: "application/pdf"
    },
    {
      name: "mime-types",
      code: `import mime from "mime-types"\nexport const main = () => mime.lookup("a.json")`,
      expected: "application/json"
    },
    {
      name: "mailparser",
      code: `import { simpleParser } from "mailparser"\nexport const main = async () => (await simpleParser("Subject: hi\\r\\nFrom: a@example.test\\r\\n\\r\\nhello")).subject`,
      expected: "hi"
    },
    {
      name: "iconv-lite",
      code: `import iconv from "iconv-lite"\nexport const main = () => iconv.decode(iconv.encode("grüße", "win1252"), "win1252")`,
      expected: "grüße"
    },
    {
      name: "feed",
      code: `import { Feed } from "feed"\nexport const main = () => new Feed({ title: "t", id: "1", copyright: "" }).rss2().includes("<title>t</title>")`,
      expected: true
    },
    {
      name: "rss-parser",
      code: `import Parser from "rss-parser"\nexport const main = async () => (await new Parser().parseURL("https://a.example.test/rss")).title`,
      reply: { body: "<rss version='2.0'><channel><title>News</title></channel></rss>" },
      expected: "News"
    }
  ]
}
