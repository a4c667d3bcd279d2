// Loaded into the workers of a test: Baileys shows each QR code for QR_CODE_MS instead of 60 or 20 s.
const qrCodeMs = Number(process.env.QR_CODE_MS)
const { setTimeout: start } = globalThis

globalThis.setTimeout = new Proxy(start, {
  apply(_, self, [work, ms, ...given]) {
    const isRotation = work.name === 'genPairQR'
    return Reflect.apply(start, self, [work, isRotation ? qrCodeMs : ms, ...given])
  },
})
