module.exports = class {
  id() {
    return 'student';
  }
  async callApi(prompt) {
    if (prompt.includes('Vienna')) return { output: 'The Danube.' };
    return { error: 'no connection' };
  }
};
