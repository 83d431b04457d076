// Loaded before the gateway by a test: a fault that cannot be made a text.
process.on('SIGUSR2', () => {
  throw Object.create(null);
});
